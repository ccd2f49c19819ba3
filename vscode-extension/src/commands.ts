// The commands: few, verbs first. Each works on what is in front, or on what it is called with.

import * as vscode from "vscode";
import type { StepThrough } from "./debug";
import type { Executions } from "./executions";
import type { GraphPanels } from "./graphPanel";
import { toggleHeat } from "./heat";
import { showUnnoticed } from "./mutants";
import { openOriginal } from "./originals";
import { ExplorerLink, VARIABLE } from "./pure/explorerLink";
import type { PropertyStatus, Which } from "./protocol";
import { stepsOf } from "./pure/settings";
import { short, sign } from "./pure/words";
import type { Runs } from "./runs";
import { type Server, serverPath } from "./server";
import type { Store } from "./store";
import type { TracePanels } from "./tracePanel";
import type { ModelNode, PropertyNode } from "./tree";

type Argument = ModelNode | PropertyNode | Which | vscode.Uri | undefined;

interface Target {
  uri: vscode.Uri;
  property?: string | undefined;
  counterexample?: number | undefined;
}

/** What a command is about: what it was called with, or else the model in front. */
function target(argument: Argument): Target | undefined {
  if (argument instanceof vscode.Uri) return { uri: argument };
  if (argument && "status" in argument) return { uri: vscode.Uri.parse(argument.status.uri) };
  if (argument && "turn" in argument) {
    return { uri: vscode.Uri.parse(argument.uri), property: argument.property.name };
  }
  if (argument && typeof argument.uri === "string") {
    const { property, counterexample } = argument;
    return { uri: vscode.Uri.parse(argument.uri), property, counterexample };
  }
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId === "promela") return { uri: document.uri };
  const visible = vscode.window.visibleTextEditors.find((editor) => editor.document.languageId === "promela");
  return visible && { uri: visible.document.uri };
}

const SCHEME = "fabius-explanation";

/** A text of this scheme is another one. */
const changed = new vscode.EventEmitter<vscode.Uri>();

/** What the commands work with. */
interface House {
  context: vscode.ExtensionContext;
  store: Store;
  server: Server;
  panels: TracePanels;
  executions: Executions;
  graphs: GraphPanels;
  runs: Runs;
  stepThrough: StepThrough;
}

export function commands({ context, store, server, panels, executions, graphs, runs, stepThrough }: House): vscode.Disposable {
  const texts = new Map<string, string>();
  const registered: vscode.Disposable[] = [
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? "",
    }),
  ];
  const on = (name: string, run: (about: Target) => Promise<unknown>): void => {
    const command = async (argument?: Argument): Promise<void> => {
      const about = target(argument);
      if (!about) {
        void vscode.window.showInformationMessage("Open a Promela model first.");
        return;
      }
      await run(about);
    };
    registered.push(vscode.commands.registerCommand(name, command));
  };

  on("fabius.checkModel", ({ uri }) => check(store, server, uri));
  on("fabius.checkProperty", ({ uri, property }) => check(store, server, uri, property));
  on("fabius.leaveOut", ({ uri }) => leaveOut(store, server, uri));
  on("fabius.boundDepth", ({ uri }) => boundDepth(store, server, uri));
  on("fabius.visitFirst", ({ uri }) => visitFirst(store, server, uri));
  on("fabius.checkWithWeakFairness", ({ uri, property }) => check(store, server, uri, property, "weak"));
  on("fabius.stopChecking", async ({ uri, property }) => {
    store.take(await server.request("fabius/stop", { uri: uri.toString(), property }));
  });
  on("fabius.checkFirst", async ({ uri, property }) => {
    store.take(await server.request("fabius/prioritize", { uri: uri.toString(), property }));
  });
  on("fabius.stepThrough", async (about) => {
    await ready(store, about.uri);
    const property = about.property ?? store.counterexample(about.uri)?.name;
    await stepThrough(about.uri, property, about.counterexample);
  });
  on("fabius.showTrace", (about) => withCounterexample(store, about, (which) => panels.show(which)));
  on("fabius.exportTrace", (about) => withCounterexample(store, about, (which) => panels.exportTrace(which)));
  on("fabius.explainVerdict", async (about) => {
    await ready(store, about.uri);
    const property = about.property ?? store.counterexample(about.uri)?.name;
    const found = property ? store.property(about.uri, property) : store.of(about.uri)?.properties[0];
    if (found) await explain(server, texts, about.uri, found);
  });
  on("fabius.compareRuns", (about) => compareRuns(server, texts, about));
  on("fabius.showUnnoticed", ({ uri }) => showUnnoticed(server, uri));
  on("fabius.findCauses", ({ uri, property }) => executions.causes({ uri: uri.toString(), property: property ?? store.counterexample(uri)?.name ?? "safety" }));
  on("fabius.toggleHeat", ({ uri }) => toggleHeat(server, uri));
  on("fabius.showGraph", ({ uri }) => graphs.show(uri));
  on("fabius.showExecutions", ({ uri }) => executions.show(uri));
  on("fabius.showExecutionsWithLaps", ({ uri }) => executions.countWithLaps(uri));
  on("fabius.explore", (about) => explore({ context, store, runs, panels }, about));
  on("fabius.searchWithCheckpoint", ({ uri }) => searchWithCheckpoint(context, uri));
  registered.push(
    vscode.commands.registerCommand("fabius.openOriginal", (about?: { uri: string; lines: number[] }) => openOriginal(server, about && "lines" in about ? about : undefined)),
    vscode.commands.registerCommand("fabius.restartServer", () => server.restart()),
    vscode.commands.registerCommand("fabius.openExample", () => openExample(context)),
    vscode.commands.registerCommand("fabius.showMenu", () => menu(store)),
  );
  return vscode.Disposable.from(...registered);
}

/** The terminal explorer, on the very run that the editor shows; on the model alone where there is none. Where there are sockets for it, each
 *  of both shows the step that the other one is at. */
async function explore({ context, store, runs, panels }: Pick<House, "context" | "store" | "runs" | "panels">, about: Target): Promise<void> {
  const { uri, counterexample } = about;
  const property = about.property ?? store.counterexample(uri)?.name;
  const run = property === undefined ? undefined : await runs.save({ uri: uri.toString(), property, counterexample });
  const which = { uri: uri.toString(), property, counterexample };
  const link = await ExplorerLink.open((shown) => { panels.showPlace(which, shown); });
  const args = [...(property === undefined ? [] : ["--property", property]), ...(run ? ["--trail", run.fsPath] : [])];
  const terminal = openExplorer(context, uri, args, link ? { [VARIABLE]: link.socket } : {});
  if (!link) return;
  const moves = panels.onMove(({ which: { uri, property: of, run: other, counterexample: index }, at }) => {
    if (at && uri === which.uri && of === property && other === undefined && (index ?? 0) === (counterexample ?? 0)) link.show(at.step);
  });
  const closed = vscode.window.onDidCloseTerminal((one) => {
    if (one !== terminal) return;
    moves.dispose();
    closed.dispose();
    void link.dispose();
  });
}

/** A search by delays in the terminal explorer, which is saved beside the model after each round; from there it goes on another time. */
async function searchWithCheckpoint(context: vscode.ExtensionContext, uri: vscode.Uri): Promise<void> {
  const file = uri.with({ path: uri.path.replace(/(\.[^./]*)?$/, ".search") });
  const name = file.path.slice(file.path.lastIndexOf("/") + 1);
  const there = await vscode.workspace.fs.stat(file).then(() => true, () => false);
  const resume = { label: `$(debug-continue) Resume from ${name}`, resumes: true };
  const anew = { label: "$(play) Begin Anew", description: `replaces ${name} after the first round`, resumes: false };
  const chosen = there ? await vscode.window.showQuickPick([resume, anew], { title: "Search with Checkpoint" }) : anew;
  if (!chosen) return;
  const scheduler = vscode.workspace.getConfiguration("fabius", uri).get("scheduler", "auto");
  const resumed = chosen.resumes ? ["--resume", file.fsPath] : [];
  openExplorer(context, uri, ["--delay", scheduler, "--checkpoint", file.fsPath, ...resumed], {});
}

/** The terminal explorer on a model, with these flags. */
function openExplorer(context: vscode.ExtensionContext, uri: vscode.Uri, args: string[], env: Record<string, string>): vscode.Terminal {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  const defines = vscode.workspace.getConfiguration("fabius", uri).get<string[]>("defines", []);
  const terminal = vscode.window.createTerminal({
    name: "Fabius Explorer",
    shellPath: serverPath(context),
    shellArgs: ["explore", uri.fsPath, ...defines.flatMap((define) => ["-D", define]), ...args],
    iconPath: new vscode.ThemeIcon("telescope"),
    location: vscode.TerminalLocation.Editor,
    ...(folder ? { cwd: folder.uri } : {}),
    env,
  });
  terminal.show();
  return terminal;
}

/** Waits until something is known about a model that was only just opened. */
async function ready(store: Store, uri: vscode.Uri): Promise<void> {
  if (!store.of(uri)) await vscode.workspace.openTextDocument(uri);
  await store.until(uri, (status) => status.running === null || status.properties.some((one) => one.counterexamples > 0));
}

async function check(store: Store, server: Server, uri: vscode.Uri, property?: string, fairness?: "weak"): Promise<void> {
  await vscode.workspace.openTextDocument(uri);
  store.take(await server.request("fabius/run", { uri: uri.toString(), property, fairness }));
}

/** Asks from which states checks are not to go on. */
async function leaveOut(store: Store, server: Server, uri: vscode.Uri): Promise<void> {
  await vscode.workspace.openTextDocument(uri);
  const prompt = "Checks do not go on from states in which this is true. Nothing: from all states.";
  await askCondition("Do Not Go On Where …", prompt, store.of(uri)?.leaveOut ?? "", async (condition) => {
    store.take(await server.request("fabius/run", { uri: uri.toString(), leaveOut: condition }));
  });
}

/** Asks which states searches visit before others. */
async function visitFirst(store: Store, server: Server, uri: vscode.Uri): Promise<void> {
  await vscode.workspace.openTextDocument(uri);
  const prompt = "Searches visit states in which this is true before others, those that are under way, too. Nothing: in any order.";
  await askCondition("Visit States First …", prompt, store.of(uri)?.visitFirst ?? "", async (condition) => {
    store.take(await server.request("fabius/steer", { uri: uri.toString(), visitFirst: condition }));
  });
}

/** Asks for a condition on states. What the server finds wrong with the answer is shown where it was typed. */
async function askCondition(
  title: string,
  prompt: string,
  value: string,
  use: (condition: string) => Promise<void>,
): Promise<void> {
  let wrong: string | undefined;
  for (;;) {
    const shown = wrong ?? title;
    const answer = await vscode.window.showInputBox({ title: shown, prompt, value, placeHolder: "x > 3 && len(q) == 2" });
    if (answer === undefined) return;
    try {
      await use(answer);
      return;
    } catch (error) {
      wrong = error instanceof Error ? error.message : String(error);
      value = answer;
    }
  }
}

/** Asks after how many steps checks cut off runs. */
async function boundDepth(store: Store, server: Server, uri: vscode.Uri): Promise<void> {
  await vscode.workspace.openTextDocument(uri);
  const answer = await vscode.window.showInputBox({
    title: "Bound Depth …",
    prompt: "Checks cut off runs after this many steps, those that are under way, too. Nothing: they do not.",
    value: store.of(uri)?.maxDepth?.toString() ?? "",
    placeHolder: "500",
    validateInput: (text) => (stepsOf(text) === undefined ? "Expected a number of steps, from 1 on, or nothing." : undefined),
  });
  const maxDepth = answer === undefined ? undefined : stepsOf(answer);
  if (maxDepth !== undefined) store.take(await server.request("fabius/steer", { uri: uri.toString(), maxDepth }));
}

/** Does something with a counterexample; without one it says why there is none. */
async function withCounterexample(
  store: Store,
  about: Target,
  run: (which: Which) => Promise<unknown>,
): Promise<void> {
  await ready(store, about.uri);
  const property = about.property ?? store.counterexample(about.uri)?.name;
  if (property === undefined || !store.property(about.uri, property)?.counterexamples) {
    const named = property === undefined ? "this model" : property;
    void vscode.window.showInformationMessage(`There is no counterexample to ${named}.`);
    return;
  }
  await run({ uri: about.uri.toString(), property, counterexample: about.counterexample ?? 0 });
}

/** The whole of what is known about a property, as a text beside the model. */
async function explain(
  server: Server,
  texts: Map<string, string>,
  uri: vscode.Uri,
  property: PropertyStatus,
): Promise<void> {
  let text = `${property.name}: ${property.summary ?? "not checked yet"}\n`;
  if (property.counterexamples > 0) {
    const params = { uri: uri.toString(), property: property.name, format: "text" } as const;
    text = (await server.request("fabius/export", params)).text;
  }
  await showBeside(texts, uri, `${property.name}.txt`, text);
}

/** The run that violates a property beside the one before the last save, as a text beside the model. */
async function compareRuns(server: Server, texts: Map<string, string>, { uri, property }: Target): Promise<void> {
  await vscode.workspace.openTextDocument(uri);
  try {
    const found = await server.request("fabius/compareRuns", { uri: uri.toString(), property });
    await showBeside(texts, uri, `${found.property} before and after.diff`, found.text);
  } catch (error) {
    void vscode.window.showInformationMessage(error instanceof Error ? error.message : String(error));
  }
}

async function showBeside(texts: Map<string, string>, uri: vscode.Uri, name: string, text: string): Promise<void> {
  const shown = vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: uri.toString() });
  texts.set(shown.toString(), text);
  changed.fire(shown);
  const document = await vscode.workspace.openTextDocument(shown);
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

/** A copy of the example, for a person to break and mend. */
async function openExample(context: vscode.ExtensionContext): Promise<void> {
  const source = vscode.Uri.joinPath(context.extensionUri, "walkthrough", "mutex.pml");
  const copy = vscode.Uri.joinPath(context.globalStorageUri, "mutex.pml");
  await vscode.workspace.fs.createDirectory(context.globalStorageUri);
  await vscode.workspace.fs.copy(source, copy, { overwrite: true });
  // A page such as the walkthrough stays where it is.
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  const isPage = activeTab !== undefined && !(activeTab.input instanceof vscode.TabInputText);
  const viewColumn = isPage ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;
  await vscode.window.showTextDocument(copy, { viewColumn, preview: false });
}

/** What the status item offers. */
async function menu(store: Store): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const status = store.of(uri);
  if (!uri || !status) return;
  interface Item extends vscode.QuickPickItem {
    run?: () => Thenable<unknown>;
  }
  const items: Item[] = [];
  for (const property of status.properties) {
    const about: Which = { uri: uri.toString(), property: property.name };
    const fails = property.counterexamples > 0;
    items.push({
      label: `${sign(property)} ${short(property, status.running)}`,
      description: fails ? "step through" : "explain",
      run: () => vscode.commands.executeCommand(fails ? "fabius.stepThrough" : "fabius.explainVerdict", about),
    });
  }
  const command = (label: string, name: string): Item => ({ label, run: () => vscode.commands.executeCommand(name, uri) });
  items.push({ label: "", kind: vscode.QuickPickItemKind.Separator });
  items.push(
    status.running
      ? command("$(debug-stop) Stop Checking", "fabius.stopChecking")
      : command("$(play) Check Model", "fabius.checkModel"),
    command("$(play) Check with Weak Fairness", "fabius.checkWithWeakFairness"),
    command("$(filter) Do Not Go On Where …", "fabius.leaveOut"),
    command("$(fold-down) Bound Depth …", "fabius.boundDepth"),
    command("$(list-ordered) Visit States First …", "fabius.visitFirst"),
    command("$(type-hierarchy) Show Trace", "fabius.showTrace"),
    command("$(diff) Compare with the Run Before the Last Save", "fabius.compareRuns"),
    command("$(type-hierarchy-sub) Show Graph …", "fabius.showGraph"),
    command("$(list-flat) Find Causes of Violations", "fabius.findCauses"),
    command("$(beaker) Show Changes That No Property Notices", "fabius.showUnnoticed"),
    command("$(terminal) Explore in Terminal", "fabius.explore"),
    { label: "$(refresh) Restart Server", run: () => vscode.commands.executeCommand("fabius.restartServer") },
  );
  const chosen = await vscode.window.showQuickPick(items, { title: "Fabius" });
  await chosen?.run?.();
}
