// What lies beyond the first model: somebody else's, the walkthrough, coverage, continuous runs, the buttons, the
// terminal. Each test stands by itself.

import { strict as assert } from "node:assert";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Workbench } from "./workbench";

const MODELS = path.resolve(process.cwd(), "..", "models");
const CORPUS = path.join(process.env["FABIUS_CORPUS"] ?? path.resolve(process.cwd(), "..", "..", "shared", "corpus"), "models");
const HYMAN = path.join(CORPUS, "spin-man", "Manual_72.pml");
const NO_CORPUS = existsSync(HYMAN) ? false : `no corpus at ${CORPUS}; set FABIUS_CORPUS to where it is`;
const NO_TERMINAL = process.env["FABIUS_TEST_TERMINAL"] ? false : "the workbench has no terminal here";

const ERROR = ".monaco-editor .squiggly-error";
const STATUS = ".statusbar-item[id*='fabius.status']";
const TREE = ".pane-body .monaco-list-row";

/** More states than anybody can wait for. */
const ENDLESS = `byte n[9];
active [9] proctype Counter() {
    do
    :: n[_pid]++; assert(n[0] + n[1] < 600)
    od
}
`;

describe("a workbench with several models", () => {
  let code: Workbench;

  before(async () => {
    const written = mkdtempSync(path.join(tmpdir(), "fabius-models-"));
    const endless = path.join(written, "counters.pml");
    writeFileSync(endless, ENDLESS);
    const typed = path.join(written, "typed.pml");
    writeFileSync(typed, "/* typed in a test */\n");
    code = await Workbench.open(
      {
        "lock.pml": path.join(MODELS, "peterson_broken.pml"),
        "watched.pml": path.join(MODELS, "peterson_broken.pml"),
        "counters.pml": endless,
        "typed.pml": typed,
        ...(NO_CORPUS ? {} : { "hyman.pml": HYMAN }),
      },
      { settings: { "terminal.integrated.gpuAcceleration": "off", "fabius.deepSeconds": 3600, "editor.quickSuggestions": false } },
    );
  });

  after(async () => {
    await code.keep("beyond");
    await code.close();
  });

  test("somebody else's model: the assertion, its steps, a name", { skip: NO_CORPUS }, async () => {
    await code.openFile("hyman.pml");
    await code.see(ERROR, 1);
    await code.see(`${STATUS}:has-text("✗ safety fails")`);
    await code.command("View: Toggle Problems");
    await code.see('.markers-panel .monaco-list-row:has-text("this assertion can fail")');
    await code.until("related steps", async () => (await code.locator(".markers-panel .monaco-list-row").count()) >= 5);
    await code.screenshot("corpus");
    await code.command("View: Toggle Problems");
    await code.gone(".markers-panel");
    await code.goTo(3, 8);
    await code.press("Control+k", "Control+i");
    await code.see('.monaco-hover:visible:has-text("byte cnt")');
    await code.press("Escape");
    await code.command("Fabius: Explain Verdict");
    await code.see('.tab.active[aria-label*="safety.txt"]');
    await code.see('.monaco-editor .view-line:has-text("this assertion can fail")');
    await code.command("View: Close Editor");
    await code.gone('.tab[aria-label*="safety.txt"]');
  });

  test("the walkthrough leads to an example and its bug", async () => {
    await code.command("Welcome: Open Walkthrough...");
    await (await code.see('.quick-input-list .monaco-list-row[aria-label*="Find a bug in a concurrent program"]')).click();
    await code.see('.gettingStartedContainer .getting-started-step:has-text("Open an example")');
    await code.screenshot("walkthrough");
    await (await code.see('.gettingStartedContainer .monaco-button:has-text("Open Example")')).click();
    await code.see('.tab.active[aria-label*="mutex.pml"]');
    await code.see(ERROR, 1);
    await code.see('.gettingStartedContainer .getting-started-step:has-text("Step through it")');
    await code.screenshot("walkthrough-beside");
    await code.command("View: Close All Editors");
    await code.gone(".tab");
  });

  test("coverage tells which statements some run executes", async () => {
    await code.openFile("lock.pml");
    await code.see(`${STATUS}:has-text("✗ safety fails")`);
    // The editor hears of new tests a little later than of verdicts.
    await code.see(".monaco-editor .testing-run-glyph");
    await code.command("Test: Run Tests with Coverage in Current File");
    await code.command("Testing: Focus on Test Coverage View");
    // The example of the walkthrough was closed.
    await code.gone('.test-explorer .monaco-list-row[aria-label*="mutex.pml"]');
    await code.see('.monaco-list-row:has-text("lock.pml"):has-text("100.00%")');
    await code.screenshot("coverage");
  });

  test("a continuous run follows each save", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("watched.pml");
    await code.command("Testing: Focus on Test Explorer View");
    await code.command("Test: Start Continuous Run");
    await code.see('.test-explorer .monaco-list-row[aria-label*="watched.pml (Failed)"]');
    await code.command("View: Focus First Editor Group");
    await code.goTo(14, 1);
    await code.press("Alt+ArrowDown", "Control+s");
    await code.see('.test-explorer .monaco-list-row[aria-label*="watched.pml (Passed)"]');
    await code.goTo(15, 1);
    await code.press("Alt+ArrowUp", "Control+s");
    await code.see('.test-explorer .monaco-list-row[aria-label*="watched.pml (Failed)"]');
    await code.command("Test: Stop Continuous Run");
  });

  test("options stand below each other while they are typed", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("typed.pml");
    await code.see(`${STATUS}:has-text("nothing to check")`);
    await code.goTo(2, 1);
    const { keyboard } = code.page;
    /** Types a line; what has its place below another line gets there before the rest of it is typed. */
    const line = async (number: number, margin: number, head: string, rest: string): Promise<void> => {
      await keyboard.type(head);
      await code.see(`.statusbar-item:has-text("Ln ${number}, Col ${margin + head.length + 1}")`);
      await keyboard.type(rest);
      await code.press("Enter");
    };
    await line(2, 0, "init {", "");
    await line(3, 4, "do", "");
    await line(4, 4, "::", " true ->");
    await line(5, 8, "skip", "");
    await line(6, 4, "::", " else ->");
    await line(7, 8, "break", "");
    await line(8, 4, "od", "");
    await code.screenshot("typed");
    await code.press("Control+s");
  });

  test("the buttons of the Properties view stop a search, and start it", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("counters.pml");
    await code.command("View: Show Fabius");
    // On a busy machine the time for the search may be over before the view is there.
    const [runs, stopped] = [`${TREE}[aria-label^="safety, running"]`, `${TREE}[aria-label^="safety, undecided"]`];
    await code.see(`${runs}, ${stopped}`);
    await code.pressInRow(stopped, "Check Property", runs);
    await code.until("the search goes on", async () => /\d states/.test((await code.locator(STATUS).allInnerTexts()).join(" ")));
    await code.pressInRow(runs, "Stop Checking", stopped);
    await code.screenshot("stopped");
    await code.pressInRow(stopped, "Check Property", runs);
    await code.command("View: Focus First Editor Group");
    await code.command("Fabius: Stop Checking");
    await code.see(`${TREE}[aria-label^="safety, undecided"]`);
  });

  test("the terminal explorer opens on the run that the editor shows", { skip: NO_TERMINAL }, async () => {
    await code.command("View: Show Explorer");
    await code.openFile("lock.pml");
    await code.see(`${STATUS}:has-text("✗ safety fails")`);
    await code.command("Fabius: Explore in Terminal");
    await code.see('.xterm-rows:has-text("lock-safety-")');
    await code.see('.xterm-rows:has-text("step 0 of 9")');
    await (await code.see(".terminal-editor .xterm, .editor-instance .xterm")).click();
    await code.press("n");
    await code.see('.xterm-rows:has-text("step 1 of 9")');
    await code.screenshot("terminal");
    await code.press("q");
    await code.gone(".xterm-rows");
  });

  test("a search is saved beside the model, and resumed from there", { skip: NO_TERMINAL }, async () => {
    const saved = path.join(code.folder, "counters.search");
    await code.openFile("counters.pml");
    await code.command("Fabius: Search with Checkpoint in Terminal");
    await code.see('.xterm-rows:has-text("counters.pml")');
    await code.until("the search is saved", () => Promise.resolve(existsSync(saved)));
    await (await code.see(".terminal-editor .xterm, .editor-instance .xterm")).click();
    await code.press("q");
    await code.gone(".xterm-rows");
    await code.command("Fabius: Search with Checkpoint in Terminal");
    await (await code.see('.quick-input-list .monaco-list-row:has-text("Resume from counters.search")')).click();
    await code.see('.xterm-rows:has-text("resumes the search for safety from")');
    await (await code.see(".terminal-editor .xterm, .editor-instance .xterm")).click();
    await code.press("q");
    await code.gone(".xterm-rows");
  });

  test("the causes of a violation are listed, and the run of one is shown", async () => {
    await code.command("View: Show Explorer");
    await code.openFile("lock.pml");
    await code.see(`${STATUS}:has-text("✗ safety fails")`);
    await code.command("Fabius: Find Causes of Violations");
    const first = await code.see('.quick-input-list .monaco-list-row[aria-label^="1: "]');
    await code.see('.quick-input-widget:has-text(", and no others")');
    await code.screenshot("causes");
    await first.click();
    const panel = await code.webview("#app .row");
    await code.until("the run of the cause", async () => (await panel.locator("body").innerText()).includes("cause 1 of safety"));
    await code.screenshot("cause");
  });
});

/** A server that says who it is, leaves a mark, and knows nothing else. */
const OTHER = `#!/usr/bin/env node
require("node:fs").appendFileSync(process.env.FABIUS_TEST_MARK, "started\\n");
let text = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  text = Buffer.concat([text, chunk]);
  for (;;) {
    const end = text.indexOf("\\r\\n\\r\\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\\d+)/.exec(text.subarray(0, end).toString())[1]);
    if (text.length < end + 4 + length) return;
    const message = JSON.parse(text.subarray(end + 4, end + 4 + length).toString());
    text = text.subarray(end + 4 + length);
    if (message.method === "exit") process.exit(0);
    if (message.id === undefined || message.method === undefined) continue;
    const result = message.method === "initialize" ? { capabilities: {}, serverInfo: { name: "fabius", version: "9.9.9" } } : null;
    const answer = JSON.stringify({ jsonrpc: "2.0", id: message.id, result });
    process.stdout.write("Content-Length: " + Buffer.byteLength(answer) + "\\r\\n\\r\\n" + answer);
  }
});
`;

describe("another server in the settings of a folder", () => {
  let code: Workbench;
  let mark: string;

  before(async () => {
    const place = mkdtempSync(path.join(tmpdir(), "fabius-server-"));
    const other = path.join(place, "fabius");
    mark = path.join(place, "mark");
    process.env["FABIUS_TEST_MARK"] = mark;
    writeFileSync(other, OTHER, { mode: 0o755 });
    code = await Workbench.open(
      { "lock.pml": path.join(MODELS, "peterson_broken.pml") },
      {
        settings: { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" },
        workspace: { "fabius.server.path": other },
      },
    );
  });

  after(async () => {
    await code.keep("trust");
    await code.close();
  });

  test("is not started before the folder is trusted, and the one inside works", async () => {
    await code.see('.part.banner:has-text("Restricted Mode")');
    await code.openFile("lock.pml");
    await code.see(ERROR, 1);
    await code.screenshot("restricted");
    assert.ok(!existsSync(mark), "a server that the folder names was started without trust");
  });

  test("is started when it is, and told apart by its version", async () => {
    await code.command("Workspaces: Manage Workspace Trust");
    await (await code.see('.workspace-trust-editor .monaco-button:has-text("Trust")')).click();
    await code.see('.workspace-trust-editor:has-text("You trust this")');
    // Newer versions show this page over everything else.
    await code.press("Escape");
    await code.command("Notifications: Show Notifications");
    await code.see('.notifications-center:has-text("is version 9.9.9")');
    await code.screenshot("versions");
    assert.match(readFileSync(mark, "utf8"), /^started\n/);
  });

  test("one that does not exist is explained", async () => {
    await code.command("Notifications: Clear All Notifications");
    writeFileSync(path.join(code.folder, ".vscode", "settings.json"), JSON.stringify({ "fabius.server.path": "/no/such/fabius" }));
    await code.command("Notifications: Show Notifications");
    await code.see('.notifications-center:has-text("The language server does not start: /no/such/fabius lsp")');
  });
});
