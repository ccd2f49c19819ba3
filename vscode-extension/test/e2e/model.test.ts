// One person, one model: from the first look to the mended lock. The steps build on each other.

import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Workbench } from "./workbench";

const MODELS = path.resolve(process.cwd(), "..", "models");
const ERROR = ".monaco-editor .squiggly-error";
const STATUS = ".statusbar-item[id*='fabius.status']";
const TREE = ".pane-body .monaco-list-row";

describe("a model in a real VS Code", () => {
  let code: Workbench;
  let began = 0;

  before(async () => {
    began = Date.now();
    code = await Workbench.open({
      "lock.pml": path.join(MODELS, "peterson_broken.pml"),
      "retry.pml": path.join(MODELS, "retry_forever.pml"),
    });
  });

  after(async () => {
    await code.keep("last");
    await code.close();
  });

  test("the assertion is underlined", async (t) => {
    const opened = Date.now();
    await code.openFile("lock.pml");
    await code.see(ERROR, 1);
    const now = Date.now();
    // How long somebody waits for the first error: told, not judged.
    t.diagnostic(`${now - opened} ms from the click on the file, which starts the extension; ${now - began} ms from the start of the workbench`);
    await code.see(`${STATUS}:has-text("✗ safety fails")`);
    await code.see('.codelens-decoration:has-text("step through")');
  });

  test("the problem lists the steps that lead there", async () => {
    await code.command("View: Toggle Problems");
    await code.see('.markers-panel .monaco-list-row:has-text("this assertion can fail")');
    await code.until("related steps", async () => (await code.locator(".markers-panel .monaco-list-row").count()) >= 5);
    const rows = await code.locator(".markers-panel .monaco-list-row").allInnerTexts();
    assert.ok(rows.some((row) => /\b\d+\. .*Worker/.test(row)), rows.join("\n"));
    await code.screenshot("problems");
    await code.command("View: Toggle Problems");
    await code.gone(".markers-panel");
  });

  test("hovering tells what the name is", async () => {
    await code.goTo(19, 12);
    await code.press("Control+k", "Control+i");
    await code.see('.monaco-hover:visible:has-text("byte critical")');
    await code.press("Escape");
  });

  test("the view lists the properties with their verdicts", async () => {
    await code.command("View: Show Fabius");
    await code.see(`${TREE}[aria-label^="safety, violated"]`);
  });

  test("a property runs from the Test Explorer", async () => {
    await code.command("Testing: Focus on Test Explorer View");
    await code.see(`.test-explorer .monaco-list-row[aria-label*="lock.pml"]`);
    await code.command("Test: Run Tests in Current File");
    await code.see('.test-explorer .monaco-list-row[aria-label*="lock.pml (Failed)"]');
    await code.screenshot("test-explorer");
  });

  test("the trace panel shows the run, and a click shows the statement", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("lock.pml");
    await code.command("Fabius: Show Trace");
    const panel = await code.webview("#app .row");
    await panel.locator("#step-9").waitFor();
    await panel.locator('.lane-names:has-text("Worker[1]")').waitFor();
    await panel.locator("#step-5").click();
    await panel.locator('aside tr.changed:has-text("critical")').waitFor();
    await code.see('.monaco-editor .active-line-number:text-is("18")');
    await code.screenshot("trace-panel");
    await panel.locator(".steps").press("ArrowDown");
    await panel.locator("#step-6.chosen").waitFor();
    await code.see('.monaco-editor .active-line-number:text-is("15")');
  });

  test("a pattern over the past marks the steps where it is true", async () => {
    const panel = await code.webview("#app .row");
    const box = panel.locator('header input[type="search"]');
    await box.fill("= critical == 1 after turn == 1");
    await box.press("Enter");
    await panel.locator('header .told:has-text("is true in")').waitFor();
    await panel.locator(".row.found.chosen").waitFor();
    const marked = await panel.locator(".row.found").count();
    const said = await panel.locator("header .told").innerText();
    assert.match(said, new RegExp(`is true in ${marked} states? of 10$`));
    await code.screenshot("pattern");
    await box.fill("= nobody > 1");
    await box.press("Enter");
    await panel.locator('header .told:has-text("`nobody` is not declared")').waitFor();
    assert.equal(await panel.locator(".row.found").count(), 0);
    await box.fill("");
  });

  test("the debugger steps through the run, forwards and back, and the trace goes along", async () => {
    const panel = await code.webview("#app .row");
    await code.command("View: Focus First Editor Group");
    await code.command("Fabius: Step Through Counterexample");
    await code.see(".debug-top-stack-frame-line");
    assert.equal(await code.locator(".notifications-toasts .codicon-error").count(), 0, "nothing is complained about");
    await code.press("F10");
    await panel.locator("#step-1.chosen").waitFor();
    await code.debug("step-over");
    await panel.locator("#step-2.chosen").waitFor();
    await code.command("View: Show Run and Debug");
    await code.see('.debug-call-stack .monaco-list-row:has-text("Worker[0]")');
    const after = await topLine(code);
    await code.debug("step-back");
    await panel.locator("#step-1.chosen").waitFor();
    // VS Code may still be on its way to the process of this step, and would end up there.
    await code.until("the debugger has stepped back", async () => (await topLine(code)) !== after);
    await panel.locator("#step-7").click();
    // The process that moves next is shown, with its own variables.
    await code.see('.debug-variables .monaco-list-row[aria-label*="other, value 0"]');
    await code.until("the debugger is where the trace is", async () => {
      const frame = code.locator(".debug-top-stack-frame-line");
      return (await frame.count()) > 0 && (await topLine(code)) === 18;
    });
    await code.screenshot("debugger");
    await code.debug("continue");
    await panel.locator("#step-9.chosen").waitFor();
    await code.see(".exception-widget, .monaco-editor .zone-widget");
    await code.screenshot("exception");
    await code.debug("stop");
    await code.gone(".debug-top-stack-frame-line");
  });

  test("a repaired model turns everything", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("lock.pml");
    await code.goTo(14, 1);
    await code.press("Alt+ArrowDown");
    await code.until("the lines are swapped", async () => {
      const lines = await code.locator(".monaco-editor .view-line").allInnerTexts();
      const text = lines.join("\n").replaceAll("\u00a0", " ");
      return text.indexOf("turn = other") > text.indexOf("wants[_pid] = true");
    });
    await code.press("Control+s");
    await code.see(ERROR, 0);
    await code.see(`${STATUS}:has-text("✓ safety, exhaustive")`);
    await code.see('.codelens-decoration:has-text("✓ holds")');
    await code.command("Testing: Focus on Test Explorer View");
    await code.see('.test-explorer .monaco-list-row[aria-label*="lock.pml (Passed)"]');
    assert.match(readFileSync(path.join(code.folder, "lock.pml"), "utf8"), /true;\s+turn = other/);
    await code.screenshot("mended");
  });

  test("the run before the repair is compared with the model after it", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("lock.pml");
    await code.command("Fabius: Compare with the Run Before the Last Save");
    await code.see('.tab:has-text("safety before and after.diff")');
    await code.see('.monaco-editor .view-line:has-text("old run in the new model")');
    await code.screenshot("compared");
  });

  test("a loop is marked at its lines", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("retry.pml");
    await code.see(`${STATUS}:has-text("progress fails")`);
    await code.until("marks of the loop", async () => {
      const after = await code.page.evaluate(() =>
        [...document.querySelectorAll(".view-line span[class*='ced-']")].map((span) => getComputedStyle(span, "::after").content),
      );
      return after.some((text) => text.includes("⟳"));
    });
    await code.command("Fabius: Show Trace");
    const panel = await code.webview(".ring .step");
    await panel.locator(".ring circle.step").first().waitFor();
    await code.screenshot("loop");
  });
});

/** The line in which the debugger stands, from where it is drawn. */
async function topLine(code: Workbench): Promise<number> {
  return code.page.evaluate(() => {
    const marked = document.querySelector(".debug-top-stack-frame-line")?.getBoundingClientRect();
    const numbers = [...document.querySelectorAll(".monaco-editor .line-numbers")];
    const beside = numbers.find((number) => Math.abs(number.getBoundingClientRect().top - (marked?.top ?? -99)) < 4);
    return Number(beside?.textContent ?? 0);
  });
}
