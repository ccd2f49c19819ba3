// Runs the tests of test/host inside the extension host of a real VS Code, with the extension as it was packaged.

import { strict as assert } from "node:assert";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { after, before, describe, test } from "node:test";
import { artefacts, PATIENCE, Workbench } from "./workbench";

const MODELS = path.resolve(process.cwd(), "..", "models");

describe("inside the extension host", () => {
  let code: Workbench;
  let ended: Promise<number>;
  const said: string[] = [];

  before(async () => {
    const payload = JSON.stringify([
      ["extensionDevelopmentPath", "{remote}{extension}"],
      ["extensionTestsPath", `{remote}${path.resolve("out/host/index.js")}`],
      ["skipWelcome", "true"],
    ]);
    const models = {
      "lock.pml": path.join(MODELS, "peterson_broken.pml"),
      "retry.pml": path.join(MODELS, "retry_forever.pml"),
    };
    code = await Workbench.open(models, {
      query: { payload },
      prepare: (page) => {
        ended = new Promise((resolve) => {
          void page.exposeFunction("codeAutomationExit", (exitCode: number) => { resolve(exitCode); });
          void page.exposeFunction("codeAutomationLog", (kind: string, args: unknown[]) => said.push(`${kind} ${args.join(" ")}`));
        });
      },
    });
  });

  after(async () => {
    await code.keep("host");
    await code.close();
  });

  test("the interfaces of the editor say what they should", async () => {
    const late = new Promise<number>((resolve) => { setTimeout(() => { resolve(-1); }, PATIENCE).unref(); });
    const exitCode = await Promise.race([ended, late]);
    const log = path.join(code.folder, "host.log");
    const told = existsSync(log) ? readFileSync(log, "utf8") : said.join("\n");
    console.log(told);
    assert.equal(exitCode, 0, told);
  });

  test("an exported page runs by itself", async () => {
    const browser = await chromium.launch({ executablePath: process.env["FABIUS_TEST_CHROMIUM"] ?? "", args: ["--headless", "--no-sandbox", "--disable-gpu"] });
    try {
      const page = await browser.newPage();
      const wrong: string[] = [];
      page.on("pageerror", (error) => wrong.push(error.message));
      page.on("console", (message) => { if (message.type() === "error") wrong.push(message.text()); });
      page.on("request", (request) => { if (!request.url().startsWith("file:")) wrong.push(request.url()); });
      await page.goto(pathToFileURL(path.join(code.folder, "exported.html")).href);
      await page.locator("#step-5").click();
      await page.locator('aside tr.changed:has-text("critical")').waitFor();
      await page.keyboard.press("End");
      await page.locator("#step-9.chosen.fault").waitFor();
      await page.screenshot({ path: path.join(artefacts(), "exported.png") });
      assert.deepEqual(wrong, []);
    } finally {
      await browser.close();
    }
  });
});
