// The page of the graph panel without an editor: it shows what the server draws, and a click tells which lines are meant.

import { strict as assert } from "node:assert";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { page } from "../../src/pure/page";
import style from "../../src/webview/graph.css";
import { ask } from "./server";

const MODEL = path.resolve("../models/peterson.pml");

interface Answer {
  svg: string;
  sentence: string;
}

/** What the page of a panel finds instead of an editor: it keeps what it is told. */
const HOST = `window.told = [];
window.acquireVsCodeApi = () => ({ postMessage: (message) => { window.told.push(message); }, setState: (state) => { window.state = state; } });`;

test("a click on a state or a step tells its lines", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fabius-graph-"));
  const uri = pathToFileURL(MODEL).href;
  const [automata, states] = await ask(uri, readFileSync(MODEL, "utf8"), async (request) => [
    (await request("fabius/graph", { uri, automata: true })) as Answer,
    (await request("fabius/graph", { uri, automata: false, by: "locations" })) as Answer,
  ]);
  const browser = await chromium.launch({ executablePath: process.env["FABIUS_TEST_CHROMIUM"] ?? "", args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  try {
    const file = path.join(folder, "graph.html");
    writeFileSync(file, page("Graph", "nonce", readFileSync("dist/graph.js", "utf8"), style));
    const shown = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const refused: string[] = [];
    shown.on("console", (message) => refused.push(message.text()));
    shown.on("pageerror", (error) => refused.push(error.message));
    await shown.addInitScript(HOST);
    await shown.goto(pathToFileURL(file).href);
    const told = (): Promise<{ type: string; lines?: number[] }[]> => shown.evaluate("window.told");
    assert.deepEqual(refused, []);
    assert.deepEqual(await told(), [{ type: "ready" }]);
    for (const [name, { svg, sentence }] of Object.entries({ automata, states })) {
      await shown.evaluate((message) => { window.postMessage(message, "*"); }, { type: "drawing", svg, sentence, which: { name } });
      await shown.waitForFunction(`window.state?.name === "${name}"`);
      assert.equal(await shown.locator(".sentence").textContent(), sentence);
      for (const what of ["rect.node[data-lines]", "text.step[data-lines]"]) {
        const before = (await told()).length;
        // In the middle, where something is written.
        await shown.locator(`.graph ${what}`).first().click();
        const [last, ...others] = (await told()).slice(before);
        assert.deepEqual(others, []);
        assert.equal(last?.type, "lines", what);
        const source = readFileSync(MODEL, "utf8").split("\n");
        assert.ok(last.lines?.length && last.lines.every((line) => source[line - 1]?.trim()), JSON.stringify(last));
      }
      const locations = [...svg.matchAll(/data-location="([^"]*)"/g)].map((found) => found[1] ?? "");
      await shown.evaluate((message) => { window.postMessage(message, "*"); }, { type: "at", at: { step: 3, locations: locations.slice(1, 3) } });
      await shown.locator('.following:has-text("after step 3 of the trace")').waitFor();
      assert.equal(await shown.locator(".graph rect.here").count(), name === "automata" ? 2 : 0);
      await shown.screenshot({ path: path.join(process.env["FABIUS_TEST_ARTEFACTS"] ?? folder, `graph-${name}.png`) });
    }
    await shown.evaluate((message) => { window.postMessage(message, "*"); }, { type: "refused", why: "too many" });
    await shown.locator('.sentence:has-text("too many")').waitFor();
    assert.equal(await shown.locator(".graph svg").count(), 0);
    assert.deepEqual(refused, []);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
