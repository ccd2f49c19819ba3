// Tests inside the extension host, against the editor's own interfaces. `run` throws where something is wrong.

import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import type { Api } from "../../src/extension";
import type { Status } from "../../src/protocol";
import { debugger_ } from "./debugger";

const ID = "fabius.fabius";

function folder(): vscode.Uri {
  const [first] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(first, "a folder is open");
  return first.uri;
}
const file = (name: string): vscode.Uri => vscode.Uri.joinPath(folder(), name);

async function settled(api: Api, uri: vscode.Uri): Promise<Status> {
  const done = (status: Status): boolean =>
    status.running === null && status.properties.length > 0 && status.properties.every((one) => one.verdict !== null && !one.stale);
  assert.ok(await api.store.until(uri, done), `${uri.path} is checked`);
  const status = api.store.of(uri);
  assert.ok(status);
  return status;
}

async function diagnostics(uri: vscode.Uri, wanted: (all: vscode.Diagnostic[]) => boolean): Promise<vscode.Diagnostic[]> {
  const now = vscode.languages.getDiagnostics(uri);
  if (wanted(now)) return now;
  return new Promise((resolve) => {
    const listener = vscode.languages.onDidChangeDiagnostics(() => {
      const all = vscode.languages.getDiagnostics(uri);
      if (!wanted(all)) return;
      listener.dispose();
      resolve(all);
    });
  });
}

async function activation(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>(ID);
  assert.ok(extension, "the extension is installed");
  assert.ok(!extension.isActive, "nothing is loaded before a Promela file is open");
  const document = await vscode.workspace.openTextDocument(file("lock.pml"));
  assert.equal(document.languageId, "promela");
  await vscode.window.showTextDocument(document);
  const api = await extension.activate();
  say(`activation took ${api.activation.toFixed(1)} ms`);
  return api;
}

async function verdicts(api: Api): Promise<void> {
  const uri = file("lock.pml");
  const status = await settled(api, uri);
  assert.deepEqual(status.properties.map(({ name, state }) => [name, state]), [["safety", "violated"]]);
  const [found] = await diagnostics(uri, (all) => all.some((one) => one.relatedInformation?.length));
  assert.ok(found);
  assert.match(found.message, /this assertion can fail/);
  assert.ok((found.relatedInformation?.length ?? 0) >= 3);
  assert.match(found.relatedInformation?.[0]?.message ?? "", /^1\. Worker/);
  // The link of its code leads to the section about it.
  assert.ok(typeof found.code === "object");
  const { value, target } = found.code;
  const section = readFileSync(target.fsPath, "utf8").split("\n")[Number(/^L(\d+)$/.exec(target.fragment)?.[1]) - 1];
  assert.ok(section?.startsWith(`## ${value} `), `${target.toString()}: ${String(section)}`);
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", uri, 10);
  assert.ok(lenses.some((lens) => lens.command?.title === "step through"), JSON.stringify(lenses));
  const tokens = await vscode.commands.executeCommand<vscode.SemanticTokens>("vscode.provideDocumentSemanticTokens", uri);
  assert.ok(tokens.data.length > 0);
}

async function expectations(api: Api): Promise<void> {
  const uri = file("expected.pml");
  const source = readFileSync(file("lock.pml").fsPath, "utf8");
  await vscode.workspace.fs.writeFile(uri, Buffer.from(`/*@ expect: violated */\n${source}`));
  await vscode.workspace.openTextDocument(uri);
  const status = await settled(api, uri);
  assert.equal(status.properties[0]?.expected, "violated");
  const item = api.tests.controller.items.get(uri.toString())?.children.get(`${uri.toString()}#safety`);
  assert.ok(item, "the property is a test");
  assert.equal(item.description, "violated is expected");
  assert.equal(item.range?.start.line, 10);
}

/** An answer that a notification overtook changes nothing. */
function order(api: Api): void {
  const uri = file("lock.pml");
  const now = api.store.of(uri);
  assert.ok(now);
  const late: Status = { ...now, serial: now.serial - 1, running: { property: "safety", tier: "quick", bound: null, progress: null, ahead: null } };
  api.store.take(late);
  assert.equal(api.store.of(uri)?.running, null);
}

/** Each of many short runs is seen to end, whichever of its answer and its end comes first. */
async function runs(api: Api): Promise<void> {
  const uri = file("lock.pml");
  for (let run = 0; run < 200; run += 1) {
    api.store.take(await api.server.request("fabius/run", { uri: uri.toString() }));
    await settled(api, uri);
  }
}

async function coverage(api: Api): Promise<void> {
  const uri = file("lock.pml");
  assert.ok(await api.store.until(uri, (status) => Boolean(status.survey)));
  const lines = await api.server.request("fabius/lines", { uri: uri.toString() });
  assert.ok(lines?.coverage?.exhaustive);
  assert.ok(lines.coverage.statements.length >= 6);
  assert.ok(lines.coverage.statements.every((one) => one.executed));
}

/** The view counts executions, opens the tree of choices, and shows one as a trace; an edit makes it old. */
async function executions(api: Api): Promise<void> {
  const uri = file("lock.pml");
  await api.executions.count(uri, 1);
  assert.match(api.executions.message ?? "", /essentially different executions/);
  const [way] = await api.executions.getChildren();
  assert.ok(way?.step, "there is a choice");
  let at = way;
  while (at.ends === undefined) {
    const [first] = await api.executions.getChildren(at);
    assert.ok(first, "a choice has alternatives");
    at = first;
  }
  await vscode.commands.executeCommand("fabius.showExecution", at);
  const which = { uri: uri.toString(), run: `execution ${at.first}` };
  assert.ok(api.panels.stateOf(which), "it is shown");
  assert.match(await api.panels.text(which, "text"), new RegExp(`^execution ${at.first}: `));
  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, new vscode.Position(0, 0), " ");
  await vscode.workspace.applyEdit(edit);
  assert.match(api.executions.message ?? "", /^Before the last edits: /);
  await vscode.commands.executeCommand("undo");
}

/** The panel draws automata and states, and says what it shows. */
async function graphs(api: Api): Promise<void> {
  const uri = file("lock.pml");
  const said = async (title: RegExp): Promise<string> => {
    for (;;) {
      const shown = api.graphs.stateOf(uri);
      if (shown && title.test(shown.title) && shown.said) return shown.said;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await api.graphs.show(uri, { automata: true });
  assert.match(await said(/^Automata: lock.pml$/), /\d/);
  // It follows the trace panel, as long as that is open.
  await api.panels.show({ uri: uri.toString(), property: "safety" });
  const marked = async (is: boolean): Promise<string[]> => {
    for (;;) {
      const at = api.graphs.stateOf(uri)?.at;
      if (is === Boolean(at)) return at?.locations ?? [];
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const locations = await marked(true);
  const { svg } = await api.server.request("fabius/graph", { uri: uri.toString(), automata: true });
  assert.ok(locations.length > 0 && locations.every((one) => svg.includes(`data-location="${one}"`)), locations.join());
  await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  assert.deepEqual(await marked(false), []);
  await api.graphs.show(uri, { automata: false, by: "no_such_variable" });
  assert.match(await said(/by no_such_variable/), /no_such_variable/);
  await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  assert.equal(api.graphs.stateOf(uri), undefined);
}

/** Changes that no property notices are marked where they are, until the text is another. */
async function unnoticed(): Promise<void> {
  const uri = file("retry.pml");
  const marked = (all: vscode.Diagnostic[]): vscode.Diagnostic[] =>
    all.filter(({ message }) => message.startsWith("no property notices: "));
  await vscode.commands.executeCommand("fabius.showUnnoticed", uri);
  const found = marked(await diagnostics(uri, (all) => marked(all).length > 0));
  assert.ok(found.every(({ severity }) => severity === vscode.DiagnosticSeverity.Information), JSON.stringify(found));
  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, new vscode.Position(0, 0), "byte unused; ");
  await vscode.workspace.applyEdit(edit);
  await diagnostics(uri, (all) => marked(all).length === 0);
  await vscode.window.showTextDocument(uri);
  await vscode.commands.executeCommand("undo");
}

async function exports_(api: Api): Promise<void> {
  const which = { uri: file("lock.pml").toString(), property: "safety" };
  assert.match(await api.panels.text(which, "mermaid"), /^sequenceDiagram\n/);
  assert.match(await api.panels.text(which, "text"), /critical\+\+/);
  const html = await api.panels.text(which, "html");
  assert.match(html, /^<!DOCTYPE html>/);
  assert.ok(!/(?:src|href)=["']/.test(html.slice(0, html.indexOf("<script"))), "the file needs nothing else");
  await vscode.workspace.fs.writeFile(file("exported.html"), Buffer.from(html));
}

async function marks(api: Api): Promise<void> {
  const uri = file("retry.pml");
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  await settled(api, uri);
  while (api.decorations.marksOf(uri).length === 0) await new Promise((resolve) => setImmediate(resolve));
  const kinds = new Set(api.decorations.marksOf(uri).map((mark) => mark.kind));
  assert.deepEqual([...kinds], ["loop"]);
}

/** The lines of formulas and assertions have signs, which go with the text. */
async function signs(api: Api): Promise<void> {
  const uri = file("signed.pml");
  const text = "byte x;\nactive proctype P() { x = 1; assert(x == 1); assert(x == 2) }\nltl low { [] (x < 2) }\n";
  await vscode.workspace.fs.writeFile(uri, Buffer.from(text.replaceAll("; assert", ";\n  assert")));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  await settled(api, uri);
  const shown = async (wanted: [number, string][]): Promise<void> => {
    const now = (): string => JSON.stringify([...api.decorations.signsOf(uri)].sort(([a], [b]) => a - b));
    const end = Date.now() + 60_000;
    while (now() !== JSON.stringify(wanted)) {
      assert.ok(Date.now() < end, now());
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  // Nothing is known of the assertion that holds, since the other one fails.
  await shown([[1, "violated"], [3, "violated"], [4, "holds"]]);
  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, new vscode.Position(0, 0), "byte y;\n");
  await vscode.workspace.applyEdit(edit);
  await shown([[2, "stale"], [3, "stale"], [4, "stale"], [5, "stale"]]);
  await document.save();
  await shown([[2, "violated"], [4, "violated"], [5, "holds"]]);
  await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
}

/** What no search executed so far is marked while not everything was searched, and in the text of which that is known. */
async function notExecuted(api: Api): Promise<void> {
  const uri = file("counting.pml");
  const text = "int n, m, x;\nactive proctype P() { do :: n++ :: n == 900000000 -> x = 1 od }\nactive proctype Q() { do :: m++ od }\n";
  await vscode.workspace.fs.writeFile(uri, Buffer.from(text));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  const shown = async (wanted: string[]): Promise<void> => {
    const now = (): string => api.decorations.notExecutedIn(uri).map(({ range }) => document.getText(range)).join(" | ");
    const end = Date.now() + 120_000;
    while (now() !== wanted.join(" | ")) {
      assert.ok(Date.now() < end, `${now()}: ${JSON.stringify(api.store.of(uri))}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await shown(["n == 900000000", "x = 1"]);
  assert.match(api.decorations.notExecutedIn(uri)[0]?.hover ?? "", /^Not executed so far: .+ states searched, the search was not complete/);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(uri, new vscode.Range(1, 32, 1, 41), "n == 3");
  await vscode.workspace.applyEdit(edit);
  assert.deepEqual(api.decorations.notExecutedIn(uri), [], "what is known is of the text before");
  await document.save();
  await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
}

/** How often statements are executed is shown to those who want it, for the text of which it is known. */
async function heat(api: Api): Promise<void> {
  const uri = file("heat.pml");
  const text = "byte n, x;\nactive proctype P() { do :: n < 9 -> n++ :: else -> break od; x = 1 }\n";
  await vscode.workspace.fs.writeFile(uri, Buffer.from(text));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  const shown = async (wanted: [string, number][]): Promise<void> => {
    const now = (): string => JSON.stringify(api.decorations.heatIn(uri).map(({ range, level }) => [document.getText(new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character)), level]));
    const end = Date.now() + 60_000;
    while (now() !== JSON.stringify(wanted)) {
      assert.ok(Date.now() < end, `${now()}: ${JSON.stringify(api.store.of(uri))}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await shown([]);
  await vscode.commands.executeCommand("fabius.toggleHeat", uri);
  await shown([["n < 9", 4], ["n++", 4], ["else", 2], ["x = 1", 2]]);
  assert.match(api.decorations.heatIn(uri)[0]?.hover ?? "", /^Executed in 9 of \d+ transitions \(\d+ %\) of all \d+ states\.$/);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(uri, new vscode.Range(1, 34, 1, 35), "8");
  await vscode.workspace.applyEdit(edit);
  assert.deepEqual(api.decorations.heatIn(uri), [], "what is known is of the text before");
  await document.save();
  await vscode.commands.executeCommand("fabius.toggleHeat", uri);
  await shown([]);
  await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
}

/** Where a run is stuck, the parts of conditions are underlined that keep it so. */
async function falseParts(api: Api): Promise<void> {
  const uri = file("waits.pml");
  const text = "byte a, b = 1;\nactive proctype P() {\n  b == 1;\n  b && (a || b > 2)\n}\n";
  await vscode.workspace.fs.writeFile(uri, Buffer.from(text));
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  await settled(api, uri);
  const until = async (wanted: string[]): Promise<void> => {
    const end = Date.now() + 60_000;
    while (JSON.stringify(api.falseParts.underlined()) !== JSON.stringify(wanted)) {
      assert.ok(Date.now() < end, api.falseParts.underlined().join());
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const entered = new Promise<vscode.DebugSession>((resolve) => {
    const listener = vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event }) => {
      if (event !== "fabius/at") return;
      listener.dispose();
      resolve(session);
    });
  });
  await vscode.commands.executeCommand("fabius.stepThrough", { uri: uri.toString(), property: "safety" });
  const session = await entered;
  await until([]);
  await session.customRequest("fabius/jump", { step: 1 });
  await until(["`a` is false", "`b > 2` is false: b is 1"]);
  await vscode.debug.stopDebugging(session);
  await until([]);
  await partsOfClauses(api, until);
}

/** The same for parts of a `provided` clause, and of macros. */
async function partsOfClauses(api: Api, until: (wanted: string[]) => Promise<void>): Promise<void> {
  const uri = file("provided.pml");
  const text = "#define OPEN (a > 0)\n#define LIMIT 3\nbyte a, b = 1;\nactive proctype P() provided (b == 2 || OPEN) {\n  b = 0\n}\nactive proctype Q() { b == 1; b > LIMIT }\n";
  await vscode.workspace.fs.writeFile(uri, Buffer.from(text));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  await settled(api, uri);
  const which = { uri: uri.toString(), property: "safety" };
  await api.panels.show(which);
  await until(["`b == 2` is false: b is 1", "`a > 0` is false: a is 0"]);
  assert.deepEqual(api.falseParts.underlinedIn(document), ["b == 2", "OPEN"]);
  api.panels.select(which, 1);
  await until(["`b == 2` is false: b is 1", "`a > 0` is false: a is 0", "`b > 3` is false: b is 1"]);
  assert.deepEqual(api.falseParts.underlinedIn(document), ["b == 2", "OPEN", "b > LIMIT"]);
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  await until([]);
}

/** Every command that is declared is there, and every key belongs to the language. */
async function declarations(): Promise<void> {
  const extension = vscode.extensions.getExtension(ID);
  const { contributes } = extension?.packageJSON as {
    contributes: { commands: { command: string }[]; keybindings: { when?: string }[] };
  };
  const known = new Set(await vscode.commands.getCommands(true));
  assert.deepEqual(contributes.commands.map(({ command }) => command).filter((command) => !known.has(command)), []);
  assert.ok(contributes.keybindings.every(({ when }) => when?.includes("editorLangId == promela")));
}

async function restart(api: Api): Promise<void> {
  await vscode.commands.executeCommand("fabius.restartServer");
  const status = await settled(api, file("lock.pml"));
  assert.equal(status.properties[0]?.state, "violated");
}

const told: string[] = [];
function say(text: string): void {
  told.push(text);
}

export async function run(): Promise<void> {
  const report = (): void => { writeFileSync(path.join(folder().fsPath, "host.log"), told.join("\n")); };
  try {
    const api = await activation();
    const parts: [string, () => Promise<void>][] = [
      ["verdicts", () => verdicts(api)],
      ["expectations", () => expectations(api)],
      ["runs", () => runs(api)],
      ["order", () => { order(api); return Promise.resolve(); }],
      ["coverage", () => coverage(api)],
      ["exports", () => exports_(api)],
      ["executions", () => executions(api)],
      ["marks", () => marks(api)],
      ["signs", () => signs(api)],
      ["not executed", () => notExecuted(api)],
      ["heat", () => heat(api)],
      ["false parts", () => falseParts(api)],
      ["graphs", () => graphs(api)],
      ["unnoticed", () => unnoticed()],
      ["declarations", declarations],
      ["debugger", () => debugger_(api, file("lock.pml"))],
      ["restart", () => restart(api)],
    ];
    for (const [name, part] of parts) {
      say(`begun ${name}`);
      report();
      await part();
      say(`ok ${name}`);
    }
  } catch (error) {
    say(`not ok ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    throw error;
  } finally {
    report();
  }
}
