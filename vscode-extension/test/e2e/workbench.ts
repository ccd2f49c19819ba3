// A real VS Code workbench in a real browser, with the packaged extension installed in it.
//
// Nothing here waits for a time: each step waits for what it needs to see, and gives up after PATIENCE.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type BrowserContext, chromium, type Frame, type Locator, type Page } from "playwright-core";

/** A slow and busy machine is no reason to fail. */
export const PATIENCE = Number(process.env["FABIUS_TEST_PATIENCE"] ?? 180_000);

const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.colorTheme": "Default Dark Modern",
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "git.openRepositoryInParentFolders": "never",
  "chat.commandCenter.enabled": false,
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "editor.inlayHints.enabled": "off",
  "debug.openDebug": "neverOpen",
  "debug.internalConsoleOptions": "neverOpen",
  "testing.automaticallyOpenTestResults": "neverOpen",
  "files.simpleDialog.enable": true,
  "window.confirmSaveUntitledWorkspace": false,
};

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; test.sh sets it`);
  return value;
}

export const artefacts = (): string => {
  const folder = need("FABIUS_TEST_ARTEFACTS");
  mkdirSync(folder, { recursive: true });
  return folder;
};

/** What may be different from the rest. */
export interface Conditions {
  /** Of the page's address. */
  query?: Record<string, string>;
  /** Done before the page is loaded. */
  prepare?: (page: Page) => void;
  /** Of the user. */
  settings?: Record<string, unknown>;
  /** Of the folder. */
  workspace?: Record<string, unknown>;
}

export class Workbench {
  private failures = 0;

  private constructor(
    readonly root: string,
    readonly folder: string,
    readonly origin: string,
    private readonly server: ChildProcess,
    private readonly browser: BrowserContext,
    readonly page: Page,
    private readonly log: string[],
  ) {}

  /** Installs the extension, starts the workbench, and opens a folder with some models in it. */
  static async open(
    models: Record<string, string>,
    { query = {}, prepare = () => undefined, settings = {}, workspace }: Conditions = {},
  ): Promise<Workbench> {
    const code = need("FABIUS_TEST_WORKBENCH");
    const root = mkdtempSync(path.join(tmpdir(), "fabius-vscode-"));
    const folder = path.join(root, "models");
    mkdirSync(folder);
    for (const [name, source] of Object.entries(models)) cpSync(source, path.join(folder, name));
    for (const scope of ["Machine", "User"]) {
      const place = path.join(root, "data", scope);
      mkdirSync(place, { recursive: true });
      writeFileSync(path.join(place, "settings.json"), JSON.stringify({ ...SETTINGS, ...settings }, undefined, 2));
    }
    if (workspace) {
      mkdirSync(path.join(folder, ".vscode"));
      writeFileSync(path.join(folder, ".vscode", "settings.json"), JSON.stringify(workspace));
    }
    const folders = [
      "--server-data-dir", path.join(root, "server"),
      "--user-data-dir", path.join(root, "data"),
      "--extensions-dir", path.join(root, "extensions"),
      "--accept-server-license-terms", "--telemetry-level", "off",
    ];
    const main = path.join(code, "out", "server-main.js");
    const node = process.env["FABIUS_TEST_NODE"] ?? process.execPath;
    const environment = { ...process.env, FABIUS_CACHE: "off", NODE_OPTIONS: "" };
    execFileSync(node, [main, ...folders, "--install-extension", need("FABIUS_TEST_VSIX")], { env: environment, stdio: "pipe" });
    const options = ["--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--enable-smoke-test-driver"];
    const server = spawn(node, [main, ...folders, ...options], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
    const log: string[] = [];
    const port = await listening(server, log);
    const origin = `http://127.0.0.1:${port}`;
    const { browser, page } = await browse(path.join(root, "browser"));
    const workbench = new Workbench(root, folder, origin, server, browser, page, log);
    page.on("console", (message) => log.push(`[${message.type()}] ${message.text()}`));
    prepare(page);
    const url = new URL(origin);
    url.search = new URLSearchParams({ folder, ...workbench.filled(query) }).toString();
    await page.goto(url.toString(), { waitUntil: "commit", timeout: PATIENCE });
    await page.locator(".monaco-workbench").waitFor({ timeout: PATIENCE });
    return workbench;
  }

  /** `{remote}` stands for the address of files, `{extension}` for the folder of the installed extension. */
  private filled(query: Record<string, string>): Record<string, string> {
    const remote = this.origin.replace("http:", "vscode-remote:");
    const fill = (text: string): string => text.replaceAll("{remote}", remote).replaceAll("{extension}", this.extension());
    return Object.fromEntries(Object.entries(query).map(([key, value]) => [key, fill(value)]));
  }

  /** The folder of the installed extension. */
  private extension(): string {
    const listed = execFileSync("ls", [path.join(this.root, "extensions")], { encoding: "utf8" }).split("\n");
    const name = listed.find((entry) => entry.startsWith("fabius.fabius-"));
    if (!name) throw new Error(`the extension is not installed: ${listed.join(" ")}`);
    return path.join(this.root, "extensions", name);
  }

  locator(selector: string): Locator {
    return this.page.locator(selector);
  }

  async see(selector: string, count?: number): Promise<Locator> {
    const found = this.page.locator(selector);
    try {
      if (count === undefined) {
        await found.first().waitFor({ state: "visible", timeout: PATIENCE });
        return found.first();
      }
      await this.page.waitForFunction(
        ([css, wanted]) => document.querySelectorAll(css).length === wanted,
        [selector, count] as const,
        { timeout: PATIENCE },
      );
      return found;
    } catch (error) {
      throw await this.failed(`waited in vain for ${selector}`, error);
    }
  }

  async gone(selector: string): Promise<void> {
    try {
      await this.page.waitForFunction((css) => document.querySelector(css) === null, selector, { timeout: PATIENCE });
    } catch (error) {
      throw await this.failed(`waited in vain for the end of ${selector}`, error);
    }
  }

  /** An error that says what can be seen instead; there is a picture of it, too. */
  private async failed(what: string, cause: unknown): Promise<Error> {
    this.failures += 1;
    const picture = `failed-${this.failures}`;
    await this.screenshot(picture).catch(() => undefined);
    const parts = {
      tabs: ".tab",
      status: ".statusbar-item",
      input: ".quick-input-widget",
      dialogs: ".monaco-dialog-box",
      notifications: ".notification-list-item",
      rows: ".monaco-list-row",
      focus: ":focus",
    };
    const read = async ([name, selector]: [string, string]): Promise<string> => {
      const texts = await this.page.locator(`${selector}:visible`).evaluateAll((found) =>
        found.map((one) => (one.getAttribute("aria-label") ?? one.textContent).replace(/\s+/g, " ").trim()),
      );
      return `  ${name}: ${texts.filter((text) => text).join(" | ").slice(0, 1500)}`;
    };
    const seen = await Promise.all(Object.entries(parts).map(read)).catch(() => ["  nothing: the page is gone"]);
    return new Error([`${what}; ${picture}.png shows it, and there is`, ...seen].join("\n"), { cause });
  }

  /** Waits until something that is looked at again and again is so. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + PATIENCE;
    for (;;) {
      if (await holds()) return;
      if (Date.now() > end) throw await this.failed(`waited in vain for ${what}`, undefined);
      await this.page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => { resolve(undefined); }); }));
    }
  }

  /** Opens a file of the folder from the explorer. */
  async openFile(name: string): Promise<void> {
    const row = await this.see(`.explorer-folders-view .monaco-list-row[aria-label*="${name}"]`);
    await row.dblclick({ timeout: PATIENCE });
    await this.see(`.tab.active[aria-label*="${name}"]`);
    await this.see(".monaco-editor .view-line");
  }

  /** Tries something again that a change of focus may spoil, such as a line of input that closes. */
  private async insist(what: string, attempt: (timeout: number) => Promise<void>): Promise<void> {
    const end = Date.now() + PATIENCE;
    for (let timeout = 5_000; ; timeout *= 2) {
      try {
        await attempt(timeout);
        return;
      } catch (error) {
        if (Date.now() > end) throw await this.failed(`could not ${what}`, error);
        await this.press("Escape");
      }
    }
  }

  /** Runs a command by its name in the command palette. */
  async command(title: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget input.input");
    const row = this.page.locator(`.quick-input-list .monaco-list-row[aria-label^="${title}"]`).first();
    await this.insist(`run ${title}`, async (timeout) => {
      await this.press("F1");
      await input.fill(`>${title}`, { timeout });
      await row.click({ timeout });
    });
  }

  /** Chooses an item of a context menu, again if need be, until its effect can be seen. */
  async chooseFromMenu(target: string, item: string, effect: string): Promise<void> {
    // VS Code ignores mouse-up events in a menu's first 100 ms, and refilling the list closes the menu.
    await this.insist(`choose ${item}`, async (timeout) => {
      await this.page.locator(target).first().click({ button: "right", timeout });
      await this.page.locator(`.monaco-menu .action-label:has-text("${item}")`).first().click({ timeout, delay: timeout / 10 });
      await this.page.locator(effect).first().waitFor({ timeout });
    });
  }

  /** Presses a button that a row shows under the pointer, again if need be: rows move while searches take turns. */
  async pressInRow(row: string, button: string, effect: string): Promise<void> {
    await this.until(`the effect of ${button}`, async () => {
      const happened = async (): Promise<boolean> => (await this.page.locator(effect).count()) > 0;
      if (await happened()) return true;
      try {
        const timeout = 2_000;
        await this.page.locator(row).first().hover({ timeout });
        await this.page.locator(row).first().locator(`.action-label[aria-label*="${button}"]`).first().click({ timeout });
        await this.page.locator(effect).first().waitFor({ timeout });
      } catch {
        // The row was replaced, or somebody is slow.
      }
      return happened();
    });
  }

  /** A button of the debugger. */
  async debug(name: string): Promise<void> {
    await (await this.see(`.debug-toolbar .codicon-debug-${name}`)).click();
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Puts the cursor somewhere in the editor in front. */
  async goTo(line: number, column: number): Promise<void> {
    const input = this.page.locator(".quick-input-widget input.input");
    await this.insist(`go to line ${line}`, async (timeout) => {
      await this.press("Control+g");
      await input.fill(`:${line}:${column}`, { timeout });
      await input.press("Enter", { timeout });
    });
    await this.see(`.statusbar-item:has-text("Ln ${line}, Col ${column}")`);
    // The cursor may have been there before: keys go to the editor only once the line of input has given the focus back.
    await this.gone(".quick-input-widget:focus-within");
    await this.see(".monaco-editor.focused");
  }

  /** The frame of the webview in which something can be seen. */
  async webview(selector: string): Promise<Frame> {
    let found: Frame | undefined;
    await this.until(`a webview with ${selector}`, async () => {
      for (const frame of this.page.frames()) {
        if (frame === this.page.mainFrame() || frame.isDetached()) continue;
        try {
          if (await frame.locator(selector).first().isVisible()) found = frame;
        } catch {
          // The frame went away while it was looked at.
        }
      }
      return found !== undefined;
    });
    if (!found) throw new Error("no webview");
    return found;
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: path.join(artefacts(), `${name}.png`) });
  }

  /** Keeps what helps to understand a failure. */
  async keep(name: string): Promise<void> {
    try {
      await this.page.screenshot({ path: path.join(artefacts(), `${name}.png`), timeout: 30_000 });
    } catch {
      // The page is gone already.
    }
    writeFileSync(path.join(artefacts(), `${name}.log`), this.log.join("\n"));
  }

  async close(): Promise<void> {
    await this.browser.close();
    const ended = new Promise((resolve) => this.server.once("exit", resolve));
    if (this.server.exitCode === null) {
      this.server.kill();
      await ended;
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** The port at which the workbench listens; the operating system chose it. */
function listening(server: ChildProcess, log: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    const hear = (chunk: Buffer): void => {
      text += chunk.toString();
      log.push(chunk.toString().trimEnd());
      const found = /Extension host agent listening on (\d+)/.exec(text);
      if (found?.[1]) resolve(Number(found[1]));
    };
    server.stdout?.on("data", hear);
    server.stderr?.on("data", hear);
    server.once("exit", (code) => { reject(new Error(`the workbench ended with code ${String(code)}:\n${text}`)); });
  });
}

async function browse(profile: string): Promise<{ browser: BrowserContext; page: Page }> {
  const executablePath = need("FABIUS_TEST_CHROMIUM");
  if (!existsSync(executablePath)) throw new Error(`${executablePath} is missing`);
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    viewport: { width: 1360, height: 860 },
    timeout: PATIENCE,
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    ],
  });
  browser.setDefaultTimeout(PATIENCE);
  // A gallery is asked for, and nothing else outside.
  await browser.route((url) => url.hostname !== "127.0.0.1" && url.protocol.startsWith("http") && !url.hostname.endsWith("vscode-cdn.net"), (route) => route.abort());
  const page = browser.pages()[0] ?? (await browser.newPage());
  return { browser, page };
}
