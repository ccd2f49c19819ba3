// The table of where a formula holds, in the page of the trace panel: its cells are those of the report of the command line, and
// its marked column follows the steps.

import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import type { StateAfter, TracePage } from "../../src/protocol";
import { page } from "../../src/pure/page";
import { flat, folded, type TraceData } from "../../src/pure/trace";
import style from "../../src/webview/style.css";
import { ask, SERVER } from "./server";

const MODEL = `byte x; bool req, ack;
active proctype P() { do :: req = 1; req = 0 :: x < 3 -> x++ :: ack = 1; ack = 0 od }
ltl live { [] (req -> <> (ack && x < 2)) }
`;

interface Report {
  properties: { name: string; violations: { ribbon?: { sentence: string; columns: number[]; rows: { formula: string; values: (boolean | null)[] }[]; decides?: { row: number; position: number } } }[] }[];
}

test("the panel shows where the formula holds, as the report says it", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fabius-ribbon-"));
  const model = path.join(folder, "live.pml");
  writeFileSync(model, MODEL);
  let text = "";
  try {
    text = execFileSync(SERVER, ["check", "--json", "--property", "live", model], { encoding: "utf8" });
  } catch (error) {
    // A violated property is told by the exit code, too.
    text = (error as { stdout: string }).stdout;
  }
  const told = (JSON.parse(text) as Report).properties[0]?.violations[0]?.ribbon;
  assert.ok(told);
  const uri = pathToFileURL(model).href;
  const data = await ask(uri, MODEL, async (request): Promise<TraceData> => {
    const first = (await request("fabius/trace", { uri, property: "live" })) as TracePage;
    const start = flat((await request("fabius/step", { uri, property: "live", step: 0 })) as StateAfter);
    return { ...first, model: "live.pml", uri, steps: folded(first.page), start, births: {} };
  });
  const browser = await chromium.launch({ executablePath: process.env["FABIUS_TEST_CHROMIUM"] ?? "", args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  try {
    const file = path.join(folder, "page.html");
    writeFileSync(file, page("live", "nonce", readFileSync("dist/trace.js", "utf8"), style, data));
    const shown = await browser.newPage({ viewport: { width: 1440, height: 800 } });
    await shown.goto(pathToFileURL(file).href);
    assert.ok((await shown.locator(".ribbon").innerText()).includes(`It says: ${told.sentence}.`));
    const rows = shown.locator(".ribbon tbody tr");
    assert.equal(await rows.count(), told.rows.length);
    const signs = new Map([["true", "●"], ["false", "○"], ["null", "?"], ["true decides", "✓"], ["false decides", "✗"]]);
    for (const [number, row] of told.rows.entries()) {
      const expected: (string | undefined)[] = told.columns.map((at) => {
        const decides: boolean = told.decides?.row === number && told.decides.position === at;
        return signs.get(`${row.values[at]}${decides ? " decides" : ""}`);
      });
      assert.deepEqual(await rows.nth(number).locator("td").allInnerTexts(), expected, row.formula);
    }
    const here = (): Promise<string[]> => shown.locator(".ribbon thead .here").allInnerTexts();
    assert.deepEqual(await here(), ["0"]);
    await shown.locator("#step-2").click();
    assert.deepEqual(await here(), ["2"]);
    // The state after the last step is that before the loop.
    await shown.keyboard.press("End");
    assert.deepEqual((await here()).map((label) => label.replace("⟳ ", "")), ["1"]);
    await shown.locator(".ribbon thead button").first().click();
    assert.deepEqual(await here(), ["0"]);
    await shown.locator("#step-2").click();
    await shown.screenshot({ path: path.join(process.env["FABIUS_TEST_ARTEFACTS"] ?? folder, "ribbon.png") });
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
