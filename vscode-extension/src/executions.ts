// The view “Executions”: the choices of a model, and how many executions and failures lie behind each way.

import * as vscode from "vscode";
import type { Branch, Counted } from "./protocol";
import { causeItem } from "./pure/causes";
import { descriptionOf, labelOf, laps, lookOf, type Look, messageOf } from "./pure/executions";
import type { Server } from "./server";
import type { Store } from "./store";
import type { TracePanels } from "./tracePanel";

const VIEW = "fabius.executions";

const ICONS: Record<Look, [string, string | undefined]> = {
  choice: ["git-branch", undefined],
  "bad choice": ["git-branch", "testing.iconFailed"],
  well: ["pass", "testing.iconPassed"],
  bad: ["error", "testing.iconFailed"],
  open: ["circle-outline", "testing.iconQueued"],
};

/** What is shown: the executions of a model, as they were counted last. */
interface Shown {
  uri: vscode.Uri;
  laps: number | undefined;
  counted: Counted;
  /** The text was edited since. */
  edited: boolean;
}

export class Executions implements vscode.TreeDataProvider<Branch>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Branch>;
  private readonly disposables: vscode.Disposable[];
  private shown: Shown | undefined;
  /** Counting that was begun later counts. */
  private serial = 0;

  constructor(
    private readonly server: Server,
    private readonly panels: TracePanels,
    store: Store,
  ) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this });
    const about = (document: vscode.TextDocument): boolean => document.uri.toString() === this.shown?.uri.toString();
    this.disposables = [
      this.view,
      this.changed,
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (about(document) && contentChanges.length > 0) this.mark(true);
      }),
      vscode.workspace.onDidSaveTextDocument((document) => {
        if (about(document) && this.shown?.edited && this.view.visible) void this.count(document.uri, this.shown.laps);
      }),
      store.onForget((key) => {
        if (key === undefined || key === this.shown?.uri.toString()) this.clear();
      }),
      vscode.commands.registerCommand("fabius.showExecution", (branch: Branch) => this.open(branch)),
    ];
  }

  /** What the view says, for tests. */
  get message(): string | undefined {
    return this.view.message;
  }

  getTreeItem(branch: Branch): vscode.TreeItem {
    const { None, Collapsed } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(labelOf(branch), branch.ends === undefined ? Collapsed : None);
    const [icon, color] = ICONS[lookOf(branch)];
    item.id = `${this.serial}#${branch.first}#${branch.executions}`;
    item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
    item.description = descriptionOf(branch);
    item.tooltip = `${labelOf(branch)}\n${descriptionOf(branch)}`;
    item.accessibilityInformation = { label: `${labelOf(branch)}, ${descriptionOf(branch)}` };
    item.contextValue = branch.ends === undefined ? "choice" : "execution";
    if (branch.ends !== undefined) {
      item.command = { command: "fabius.showExecution", title: "Show Trace", arguments: [branch] };
    }
    return item;
  }

  async getChildren(branch?: Branch): Promise<Branch[]> {
    const { shown } = this;
    if (!shown?.counted.exhaustive) return [];
    const which = branch && { first: branch.first, executions: branch.executions };
    try {
      const opened = await this.server.request("fabius/executionTree", { uri: shown.uri.toString(), ...which });
      if (opened.stale) this.mark(true);
      return opened.branch.ends === undefined ? opened.alternatives : branch ? [] : [opened.branch];
    } catch {
      // The server counts no more: it was started anew, or counts for another model.
      return [];
    }
  }

  /** Counts the executions of a model and shows the tree of their choices. */
  async count(uri: vscode.Uri, lapsMax?: number): Promise<void> {
    const serial = ++this.serial;
    const params = { uri: uri.toString(), ...(lapsMax === undefined ? {} : { laps: lapsMax }) };
    this.view.message = "Counting executions …";
    try {
      const counted = await this.server.request("fabius/executions", params);
      if (serial !== this.serial) return;
      this.shown = { uri, laps: lapsMax, counted, edited: counted.stale };
      this.mark(counted.stale);
    } catch (error) {
      if (serial !== this.serial) return;
      this.clear();
      this.view.message = error instanceof Error ? error.message : String(error);
    }
    this.changed.fire(undefined);
  }

  /** The same, with the number of laps of each loop that somebody types. */
  async countWithLaps(uri: vscode.Uri): Promise<void> {
    const typed = await vscode.window.showInputBox({
      title: "Count executions with at most how many laps of each loop?",
      value: "1",
      validateInput: (text) => {
        const wrong = laps(text);
        return typeof wrong === "string" ? wrong : undefined;
      },
    });
    const number = typed === undefined ? "" : laps(typed);
    if (typeof number === "number") await this.show(uri, number);
  }

  async show(uri: vscode.Uri, lapsMax?: number): Promise<void> {
    const counting = this.count(uri, lapsMax);
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    await counting;
  }

  /** Asks whether the model can get stuck at a line, and shows the run if it can. */
  async stuck(about: { uri: string; lines: number[] }): Promise<void> {
    const answer = await asking(this.server.request("fabius/stuck", about));
    if (!answer) return;
    void vscode.window.showInformationMessage(answer.sentence);
    if (answer.run) await this.panels.show({ uri: about.uri, run: answer.run });
  }

  /** Finds the causes of the violations of a property; the run of the one that is chosen is shown. */
  async causes(about: { uri: string; property: string }): Promise<void> {
    const answer = await asking(this.server.request("fabius/causes", about));
    if (!answer) return;
    if (answer.causes.length === 0) {
      void vscode.window.showInformationMessage(`${answer.sentence}.`);
      return;
    }
    const items = answer.causes.map((cause, index) => ({ ...causeItem(cause, index), run: cause.run }));
    const chosen = await vscode.window.showQuickPick(items, { title: answer.sentence, placeHolder: "Show the run of a cause", matchOnDetail: true });
    if (chosen) await this.panels.show({ uri: about.uri, run: chosen.run });
  }

  /** Checks a model with the values that a comment names, and offers the table. */
  async sweep(about: { uri: string; lines: number[] }): Promise<void> {
    const answer = await asking(this.server.request("fabius/sweep", about));
    if (!answer) return;
    const chosen = await vscode.window.showInformationMessage(`${answer.sentence}.`, "Show Table");
    if (!chosen) return;
    const document = await vscode.workspace.openTextDocument({ language: "markdown", content: answer.table });
    await vscode.commands.executeCommand("markdown.showPreviewToSide", document.uri);
  }

  /** Asks in which contexts a model goes wrong, and shows the first one as a model. */
  async contexts(about: { uri: string; process: string }): Promise<void> {
    const answer = await asking(this.server.request("fabius/contexts", about));
    if (!answer) return;
    void vscode.window.showInformationMessage(`${answer.sentence}.`);
    if (!answer.model) return;
    const document = await vscode.workspace.openTextDocument({ language: "promela", content: answer.model });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside });
  }

  private async open(branch: Branch): Promise<void> {
    if (!this.shown) return;
    const uri = this.shown.uri.toString();
    const { run } = await this.server.request("fabius/execution", { uri, number: branch.first, count: 1 });
    await this.panels.show({ uri, run });
  }

  private mark(edited: boolean): void {
    if (!this.shown) return;
    this.shown.edited = edited;
    this.view.message = messageOf(this.shown.counted, edited);
  }

  private clear(): void {
    this.shown = undefined;
    this.view.message = "";
    this.changed.fire(undefined);
  }

  dispose(): void {
    this.disposables.forEach((disposable) => { disposable.dispose(); });
  }
}

/** An answer that may take a while; what goes wrong is shown. */
async function asking<T>(answer: Promise<T>): Promise<T | undefined> {
  const place = { location: vscode.ProgressLocation.Window, title: "Fabius searches" };
  try {
    return await vscode.window.withProgress(place, () => answer);
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
