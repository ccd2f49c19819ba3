// The drawing beside a model, and numbers over the steps, in the page of the trace panel: both follow the selected step.

import { strict as assert } from "node:assert";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import type { StateAfter, TracePage } from "../../src/protocol";
import { page } from "../../src/pure/page";
import { flat, folded, type TraceData } from "../../src/pure/trace";
import style from "../../src/webview/style.css";
import { ask } from "./server";

const MODELS = path.resolve("../models");

test("the drawing beside a model moves with the selected step", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fabius-picture-"));
  const model = path.join(folder, "philosophers.pml");
  for (const name of ["philosophers.pml", "philosophers.pml.svg"]) copyFileSync(path.join(MODELS, name), path.join(folder, name));
  // What a drawing program writes: style of a single element.
  const drawn = readFileSync(`${model}.svg`, "utf8").replace('<circle class="table"', '<circle class="table" style="opacity: 0.5"');
  writeFileSync(`${model}.svg`, drawn);
  const uri = pathToFileURL(model).href;
  const data = await ask(uri, readFileSync(model, "utf8"), async (request): Promise<TraceData> => {
    const first = (await request("fabius/trace", { uri })) as TracePage;
    const start = flat((await request("fabius/step", { uri, step: 0 })) as StateAfter);
    return { ...first, model: "philosophers.pml", uri, steps: folded(first.page), start, births: {} };
  });
  assert.equal(data.pictureProblem, null);
  assert.equal(data.picture?.bindings.length, 20);
  const browser = await chromium.launch({ executablePath: process.env["FABIUS_TEST_CHROMIUM"] ?? "", args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  try {
    const file = path.join(folder, "page.html");
    writeFileSync(file, page("philosophers", "nonce", readFileSync("dist/trace.js", "utf8"), style, data));
    const shown = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const refused: string[] = [];
    shown.on("console", (message) => refused.push(message.text()));
    await shown.goto(pathToFileURL(file).href);
    // The forks as the drawing shows them: who holds each of them, and that rules of style are about that.
    const forks = (): Promise<[string | null, string][]> =>
      shown.evaluate(() => {
        const root = document.querySelector(".own")?.shadowRoot;
        const found = [...(root?.querySelectorAll(".fork") ?? [])];
        return found.map((fork): [string | null, string] => [fork.getAttribute("data-value"), getComputedStyle(fork).fill]);
      });
    const free = "rgb(140, 149, 159)";
    assert.deepEqual(await forks(), Array.from({ length: 5 }, () => ["0", free]));
    await shown.keyboard.press("End");
    const held = await forks();
    assert.deepEqual(held.map(([value]) => value), ["1", "2", "3", "4", "5"]);
    assert.equal(new Set(held.map(([, fill]) => fill)).size, 5);
    assert.ok(held.every(([, fill]) => fill !== free));
    const opacity = shown.evaluate(() => {
      const table = document.querySelector(".own")?.shadowRoot?.querySelector(".table");
      return table && getComputedStyle(table).opacity;
    });
    assert.equal(await opacity, "0.5");
    assert.deepEqual(refused, []);
    await shown.screenshot({ path: path.join(process.env["FABIUS_TEST_ARTEFACTS"] ?? folder, "picture.png") });
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
