// A model whose checks take long: which property is being checked, which wait, and what somebody does about that.

import { strict as assert } from "node:assert";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Workbench } from "./workbench";

const TREE = ".pane-body .monaco-list-row";
const GUTTER = ".monaco-editor .glyph-margin-widgets .cgmr";

/** More states than any test waits for. */
const MODEL = `int a, b, c, d;
#define COUNT(x) do :: x < 30000 -> x++ :: x > 0 -> x-- od
active proctype A() { COUNT(a) }
active proctype B() { COUNT(b) }
active proctype C() { COUNT(c) }
active proctype D() {
  do :: d < 30000 -> d++ :: a + b + c + d > 120000 ->
    assert(false)
  od
}
ltl p { [] (a < 30001) }
ltl q { [] (b < 30001) }
`;

/** One process that cannot go on in its second state. */
const WAITS = `byte a, b = 1;
active proctype P() {
  b == 1;
  b && (a || b > 2) && !(b < 7)
}
`;

describe("a check that takes long", () => {
  let code: Workbench;

  before(async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), "fabius-queue-")), "long.pml");
    const waits = path.join(path.dirname(file), "waits.pml");
    writeFileSync(file, MODEL);
    writeFileSync(waits, WAITS);
    code = await Workbench.open({ "long.pml": file, "waits.pml": waits }, { settings: { "editor.inlayHints.enabled": "on", "fabius.deepSeconds": 600 } });
    await code.openFile("long.pml");
  });

  after(async () => {
    await code.keep("queue-last");
    await code.close();
  });

  test("the view shows what is being checked and what waits, in order", async () => {
    await code.command("View: Show Fabius");
    await code.see(`${TREE}[aria-label*=", running, "][aria-label*=" states"]`);
    await code.see(`${TREE}[aria-label*=", waiting, next in the queue"]`);
    await code.see(`${TREE}[aria-label*=", waiting, number 2 in the queue"]`);
    await code.see(`${TREE}:has-text("1 running, 2 waiting")`);
  });

  test("the gutter has a sign at each formula and at the assertion", async () => {
    await code.until("signs", async () => (await code.locator(GUTTER).count()) >= 4);
    await code.screenshot("queue");
  });

  test("a property that waits is checked first, and is stopped", async () => {
    const last = await code.see(`${TREE}[aria-label*=", waiting, number 2 in the queue"]`);
    const name = ((await last.getAttribute("aria-label")) ?? "").split(",")[0] ?? "";
    assert.ok(["safety", "p", "q"].includes(name), name);
    const states = (state: string): string => `${TREE}[aria-label^="${name}, ${state}"]`;
    await code.pressInRow(states("waiting"), "Check This First", states("running"));
    await code.pressInRow(states("running"), "Stop Checking", states("undecided"));
    // The others go on, or have done so to their end: where somebody is slow to click, that is over by now.
    const labels = (): Promise<string[]> =>
      code.locator(`${TREE}[aria-label]`).evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? ""));
    const goesOn = (label: string): boolean => !label.startsWith(name) && /, running, |\d \d{3} \d{3} states/.test(label);
    await code.until("another property goes on", async () => (await labels()).some(goesOn));
    await code.screenshot("queue-stopped");
  });

  test("at the step of the trace panel the parts are underlined that keep a process from going on", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("waits.pml");
    await code.command("Fabius: Show Trace");
    const panel = await code.webview("#app .row");
    await panel.locator("#step-1").click();
    const underlined = (): Promise<string> =>
      code.page.evaluate(() => {
        const spans = [...document.querySelectorAll(".monaco-editor .view-line span span")];
        const marked = spans.filter((span) => getComputedStyle(span).textDecorationLine === "underline");
        return marked.map((span) => span.textContent).join("").replaceAll("\u00a0", " ");
      });
    await code.until("underlined parts", async () => (await underlined()) === "ab > 2(b < 7)");
    await code.screenshot("false-parts");
  });
});
