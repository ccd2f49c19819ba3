// The trace panel beside a model on a common screen, also in high contrast; what the debugger shows and holds; faulty
// models and renamed files in the Test Explorer. The steps build on each other.

import { strict as assert } from "node:assert";
import { mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Frame } from "playwright-core";
import { after, before, describe, test } from "node:test";
import { Workbench } from "./workbench";

const MODELS = path.resolve(process.cwd(), "..", "models");
const STATUS = ".statusbar-item[id*='fabius.status']";
const THREAD = ".debug-call-stack .monaco-list-row";
const TESTS = ".test-explorer .monaco-list-row";

/** Two processes with a variable of the same name, an array, a structure. */
const SAME_NAMES = `typedef Log { byte last; byte count }
Log log;
byte sum[3];
active proctype Left() {
    byte mine = 11;
    sum[0] = mine;
    log.last = 1;
    log.count++
}
active proctype Right() {
    byte mine = 22;
    sum[1] = mine;
    assert(sum[0] + sum[1] < 30)
}
`;

/** Only a scheduler that never lets the second one move prevents progress. */
const UNFAIR = `byte x;
active proctype Busy() {
    do
    :: x = 1 - x
    od
}
active proctype Good() {
progress:
    do
    :: true
    od
}
ltl moves { <> (Good@progress && x == 1) }
`;

describe("a panel beside a model", () => {
  let code: Workbench;

  before(async () => {
    const written = mkdtempSync(path.join(tmpdir(), "fabius-panel-"));
    const write = (name: string, text: string): [string, string] => {
      writeFileSync(path.join(written, name), text);
      return [name, path.join(written, name)];
    };
    code = await Workbench.open({
      "philosophers.pml": path.join(MODELS, "philosophers.pml"),
      ...Object.fromEntries([write("names.pml", SAME_NAMES), write("unfair.pml", UNFAIR), write("faulty.pml", "active proctype P() { x = }\n")]),
    });
    await code.page.setViewportSize({ width: 1440, height: 900 });
  });

  after(async () => {
    await code.keep("panel");
    await code.close();
  });

  /** What is said of each step that is drawn: where it stands, and whether all of it fits. */
  async function statements(panel: Frame): Promise<{ right: number; fits: boolean }[]> {
    return panel.locator(".row .text").evaluateAll((found) =>
      found.map((text) => ({ right: text.getBoundingClientRect().right, fits: text.scrollWidth <= text.clientWidth + 1 })),
    );
  }

  test("at half of the width every step shows its statement, and the reasons come first", async () => {
    await code.openFile("philosophers.pml");
    await code.see(`${STATUS}:has-text("✗ safety fails")`);
    await code.command("Fabius: Show Trace");
    const panel = await code.webview(".row");
    const width = await panel.evaluate(() => document.documentElement.clientWidth);
    const said = await statements(panel);
    assert.ok(said.length > 3 && said.every(({ right, fits }) => fits && right < width), JSON.stringify({ width, said }));
    await panel.locator("aside .why + .state").waitFor();
    const heights = await panel.locator("aside .values tr").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    assert.ok(heights.every((height) => height < 28), `no value is wrapped: ${heights.join(" ")}`);
    await panel.locator("#step-3").click();
    await code.screenshot("half-width");
    await code.command("View: Toggle Primary Side Bar Visibility");
    await code.gone(".explorer-folders-view");
    await code.screenshot("half-width-without-side-bar");
    await code.command("View: Toggle Primary Side Bar Visibility");
  });

  test("in high contrast everything can be read", async () => {
    const input = code.page.locator(".quick-input-widget input.input");
    await code.command("Preferences: Color Theme");
    await input.fill("Dark High Contrast");
    await code.press("Enter");
    await code.see(".monaco-workbench.hc-black");
    const panel = await code.webview("body.vscode-high-contrast .row");
    const colours = await panel.locator("header button").evaluate((button) => {
      const { color, backgroundColor, borderTopColor } = getComputedStyle(button);
      return { color, backgroundColor, borderTopColor };
    });
    assert.equal(colours.color, "rgb(255, 255, 255)");
    assert.ok(["rgba(0, 0, 0, 0)", "rgb(0, 0, 0)"].includes(colours.backgroundColor), JSON.stringify(colours));
    assert.notEqual(colours.borderTopColor, "rgb(0, 0, 0)");
    await code.screenshot("high-contrast");
    await code.command("Preferences: Color Theme");
    await input.fill("Dark Modern");
    await code.press("Enter");
    await code.gone(".monaco-workbench.hc-black");
    await code.command("View: Close All Editors");
  });

  test("values beside the code are those of the process that is stopped", async () => {
    await code.openFile("names.pml");
    await code.see(`${STATUS}:has-text("✗ safety fails")`);
    await code.command("Fabius: Step Through Counterexample");
    await code.see(".debug-top-stack-frame-line");
    await code.command("View: Show Run and Debug");
    await code.see(`${THREAD}:has-text("Right[1]")`);
    const beside = (): Promise<string[]> =>
      code.page.evaluate(() =>
        [...document.querySelectorAll(".monaco-editor .view-line")].map((line) =>
          [line.textContent, ...[...line.querySelectorAll("span")].map((span) => getComputedStyle(span, "::after").content)].join(" "),
        ),
      );
    await code.until("the value of `mine`", async () => (await beside()).some((line) => /mine = (11|22)/.test(line.replaceAll("\u00a0", " "))));
    const lines = (await beside()).map((line) => line.replaceAll("\u00a0", " "));
    const values = lines.filter((line) => /"[^"]*mine = (11|22)/.test(line) && line.includes("byte mine"));
    assert.ok(values.every((line) => (line.includes("byte mine = 11") ? !line.includes("mine = 22") : !/"[^"]*mine = 11/.test(line))), values.join("\n"));
    await code.screenshot("inline-values");
  });

  test("a process is held and released in the call stack", async () => {
    const thread = `${THREAD}:has-text("Left[0]")`;
    await code.chooseFromMenu(thread, "Hold Process", `${THREAD}:has-text("Left[0] ⏸ held")`);
    await code.screenshot("held");
    await code.command("Fabius: Release Process");
    await (await code.see('.quick-input-list .monaco-list-row[aria-label*="Left[0]"]')).click();
    await code.gone(`${THREAD}[aria-label*="held"]`);
    await code.debug("stop");
    await code.gone(".debug-top-stack-frame-line");
  });

  test("a model that cannot be read is a failed test, and a file that is renamed is one test", async () => {
    await code.command("View: Close All Editors");
    await code.command("View: Show Explorer");
    await code.openFile("faulty.pml");
    await code.command("Testing: Focus on Test Explorer View");
    await code.command("Test: Run All Tests");
    await code.see(`${TESTS}[aria-label*="faulty.pml (Failed)"]`);
    await code.screenshot("faulty");
    renameSync(path.join(code.folder, "faulty.pml"), path.join(code.folder, "renamed.pml"));
    await code.see(`${TESTS}[aria-label*="renamed.pml"]`);
    await code.gone(`${TESTS}[aria-label*="faulty.pml"]`);
  });

  test("weak fairness can be asked for", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("unfair.pml");
    await code.see(`${STATUS}:has-text("moves fails")`);
    await code.command("Fabius: Check with Weak Fairness");
    await code.see(`${STATUS}:has-text("✓")`);
    await code.screenshot("fairness");
    assert.match(readFileSync(path.join(code.folder, "unfair.pml"), "utf8"), /ltl moves/);
  });
});
