// The trace panel: one per counterexample. It moves the editor and the debugger, and they move it.

import { randomBytes } from "node:crypto";
import * as path from "node:path";
import * as vscode from "vscode";
import type { DebuggerEvents, DebuggerRequests } from "./debugMessages";
import { showOriginal } from "./originals";
import type { ExportFormat, StateAfter, Step, Which } from "./protocol";
import type { Shown } from "./pure/explorerLink";
import { page } from "./pure/page";
import { flat, folded, stepOnLine, type TraceData } from "./pure/trace";
import type { Server } from "./server";
import type { Store } from "./store";
import { toRange } from "./tests";
import style from "./webview/style.css";

const VIEW = "fabius.trace";

type FromPanel =
  | { type: "ready" }
  | { type: "select"; step: number }
  | { type: "open"; step: number }
  | { type: "original"; step: number }
  | { type: "matches"; pattern: string }
  | { type: "export" };

const keyOf = (which: Which): string => `${which.uri}#${which.run ?? ""}#${which.property ?? ""}#${which.counterexample ?? 0}`;

/** All of a counterexample. */
export async function loadTrace(server: Server, which: Which): Promise<TraceData> {
  const first = await server.request("fabius/trace", { ...which, from: 1 });
  const told: Step[] = [...first.page];
  while (told.length < first.steps) {
    const next = await server.request("fabius/trace", { ...which, from: told.length + 1 });
    if (next.page.length === 0) break;
    told.push(...next.page);
  }
  const steps = folded(told);
  const state = (step: number): Promise<StateAfter> => server.request("fabius/step", { ...which, step });
  const births: TraceData["births"] = {};
  for (const step of steps) {
    if (step.created?.length) births[step.step] = flat(await state(step.step), new Set(step.created));
  }
  const { property, kind, message, stale, loopStart, blocked, explanation, advice, ribbon, picture, pictureProblem, plots } = first;
  const model = path.basename(vscode.Uri.parse(which.uri).path);
  const start = flat(await state(0));
  const counterexample = which.counterexample ?? 0;
  return { model, uri: which.uri, property, counterexample, kind, message, stale, steps, loopStart, start, births, blocked, explanation, advice, ribbon, picture, pictureProblem, plots };
}

/** Where a trace is. */
export interface Moment {
  step: number;
}

class TracePanel {
  data: TraceData | undefined;
  selected = 0;

  constructor(
    readonly which: Which,
    readonly panel: vscode.WebviewPanel,
    private readonly server: Server,
    private readonly moved: (which: Which, at: Moment | undefined) => void,
  ) {}

  /** Tells the server which step is shown: what it says about the formula is about that; and who shows the same. */
  tell(): void {
    this.moved(this.which, this.data?.stale === false ? { step: this.selected } : undefined);
    // The counterexample may be gone by now.
    this.server.request("fabius/select", { ...this.which, step: this.selected }).catch(() => undefined);
  }

  post(message: object): void {
    void this.panel.webview.postMessage(message);
  }

  /** Shows a step that something else chose. */
  select(step: number): void {
    if (step === this.selected) return;
    this.selected = step;
    this.post({ type: "select", step });
    this.tell();
  }
}

export class TracePanels implements vscode.Disposable {
  private readonly open = new Map<string, TracePanel>();
  private readonly moves = new vscode.EventEmitter<{ which: Which; at: Moment | undefined }>();
  /** A trace moved to a step; nowhere if it is closed or of an older text. */
  readonly onMove = this.moves.event;
  private readonly disposables: vscode.Disposable[] = [this.moves];
  private readonly highlight = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
  });

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly server: Server,
    store: Store,
  ) {
    this.disposables.push(
      this.highlight,
      vscode.window.registerWebviewPanelSerializer(VIEW, {
        deserializeWebviewPanel: async (panel, state: { which?: Which; step?: number } | undefined) => {
          if (!state?.which) {
            panel.dispose();
            return;
          }
          const { which } = state;
          await vscode.workspace.openTextDocument(vscode.Uri.parse(which.uri));
          await store.until(vscode.Uri.parse(which.uri), (status) => status.running === null);
          this.set(panel, which).selected = state.step ?? 0;
        },
      }),
      vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
        if (session.type === "fabius" && event === "fabius/at") this.follow(session, (body as DebuggerEvents["fabius/at"]).step);
      }),
      vscode.window.onDidChangeTextEditorSelection((change) => {
        if (change.kind === vscode.TextEditorSelectionChangeKind.Mouse) this.clicked(change.textEditor);
      }),
      store.onChange((status) => {
        if (status.running !== null) return;
        for (const panel of this.open.values()) if (panel.which.uri === status.uri) void this.load(panel);
      }),
    );
  }

  /** The selected step of a panel and what it shows, for tests. */
  stateOf(which: Which): { selected: number; steps: number } | undefined {
    const panel = this.open.get(keyOf(which));
    return panel && { selected: panel.selected, steps: panel.data?.steps.length ?? 0 };
  }

  /** Shows a step of a trace whose panel is open, for tests. */
  select(which: Which, step: number): void {
    this.open.get(keyOf(which))?.select(step);
  }

  show(which: Which): Promise<void> {
    const known = this.open.get(keyOf(which));
    if (known) {
      known.panel.reveal();
      return Promise.resolve();
    }
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
    const options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.context.extensionUri, "dist")] };
    this.set(vscode.window.createWebviewPanel(VIEW, "Trace", place, options), which);
    return Promise.resolve();
  }

  private set(panel: vscode.WebviewPanel, which: Which): TracePanel {
    const shown = new TracePanel(which, panel, this.server, (which, at) => { this.moves.fire({ which, at }); });
    this.open.set(keyOf(which), shown);
    panel.title = `Trace: ${which.run ?? which.property ?? path.basename(which.uri)}`;
    panel.iconPath = vscode.Uri.joinPath(this.context.extensionUri, "media", "view.svg");
    panel.onDidDispose(() => {
      this.open.delete(keyOf(which));
      this.unmark();
      this.moves.fire({ which, at: undefined });
    });
    panel.webview.onDidReceiveMessage((message: FromPanel) => this.hear(shown, message));
    const script = panel.webview.asWebviewUri(vscode.Uri.joinPath(this.context.extensionUri, "dist", "trace.js"));
    panel.webview.html = page(panel.title, randomBytes(16).toString("hex"), script.toString(), style);
    return shown;
  }

  private async hear(shown: TracePanel, message: FromPanel): Promise<void> {
    switch (message.type) {
      case "ready":
        await this.load(shown);
        return;
      case "select":
        shown.selected = message.step;
        shown.tell();
        // The debugger shows by itself where it is.
        if (!(await this.jump(shown))) await this.reveal(shown, true);
        return;
      case "open":
        shown.selected = message.step;
        await this.reveal(shown, false);
        return;
      case "original":
        await this.revealOriginal(shown.data?.steps[message.step - 1], false);
        return;
      case "matches":
        await this.findMatches(shown, message.pattern);
        return;
      case "export":
        await this.exportTrace(shown.which);
    }
  }

  private async load(shown: TracePanel): Promise<void> {
    try {
      shown.data = await loadTrace(this.server, shown.which);
    } catch {
      // There is no such counterexample any more.
      shown.post({ type: "gone" });
      return;
    }
    shown.selected = Math.min(shown.selected, shown.data.steps.length);
    shown.tell();
    shown.post({ type: "trace", data: shown.data, selected: shown.selected, which: shown.which });
  }

  /** Tells after which steps a pattern over the past is true, or what is wrong with it. */
  private async findMatches(shown: TracePanel, pattern: string): Promise<void> {
    let found: { steps: number[]; sentence: string };
    try {
      found = await this.server.request("fabius/matches", { ...shown.which, pattern });
    } catch (error) {
      found = { steps: [], sentence: error instanceof Error ? error.message : String(error) };
    }
    shown.post({ type: "matches", pattern, ...found });
  }

  /** Shows the statement of the selected step in the editor. */
  private async reveal(shown: TracePanel, preserveFocus: boolean): Promise<void> {
    const step = shown.data?.steps[Math.max(shown.selected, 1) - 1];
    if (!step?.uri || !step.range) return;
    const uri = vscode.Uri.parse(step.uri);
    const range = toRange(step.range);
    const there = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
    const viewColumn = there?.viewColumn ?? vscode.ViewColumn.One;
    const editor = await vscode.window.showTextDocument(uri, { viewColumn, preserveFocus, selection: range });
    this.unmark();
    editor.setDecorations(this.highlight, [range]);
    if (vscode.workspace.getConfiguration("fabius", uri).get<boolean>("showOriginal", false)) await this.revealOriginal(step, true);
  }

  /** Shows the line from which a statement was generated, if that file is there. */
  private async revealOriginal(step: Step | undefined, preserveFocus: boolean): Promise<void> {
    if (step?.originalUri && step.original) await showOriginal(step.originalUri, step.original.line - 1, preserveFocus);
  }

  /** Shows where a terminal explorer is: the line, where the model is to be seen, and the step, if it is one of this counterexample. */
  showPlace(which: Which, { line, step, run }: Shown): void {
    if (run) this.open.get(keyOf(which))?.select(step);
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === which.uri);
    if (!editor || editor.document.lineCount < line) return;
    const { range } = editor.document.lineAt(line - 1);
    this.unmark();
    editor.setDecorations(this.highlight, [range]);
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private unmark(): void {
    for (const editor of vscode.window.visibleTextEditors) editor.setDecorations(this.highlight, []);
  }

  /** The debugger goes to the selected step, if it is on this counterexample. */
  private async jump(shown: TracePanel): Promise<boolean> {
    const session = vscode.debug.activeDebugSession;
    if (!session || !this.isAbout(session, shown)) return false;
    const params: DebuggerRequests["fabius/jump"]["arguments"] = { step: shown.selected };
    await session.customRequest("fabius/jump", params);
    return true;
  }

  private isAbout(session: vscode.DebugSession, shown: TracePanel): boolean {
    const { program, property, counterexample } = session.configuration as {
      program?: string;
      property?: string;
      counterexample?: number;
    };
    const same = program !== undefined && vscode.Uri.file(program).toString() === vscode.Uri.parse(shown.which.uri).toString();
    return session.type === "fabius" && same && property === shown.which.property && (counterexample ?? 0) === (shown.which.counterexample ?? 0);
  }

  private follow(session: vscode.DebugSession, step: number): void {
    for (const shown of this.open.values()) if (this.isAbout(session, shown)) shown.select(step);
  }

  /** A click in the editor chooses the nearest step on that line, unless the debugger is there. */
  private clicked(editor: vscode.TextEditor): void {
    const uri = editor.document.uri.toString();
    for (const shown of this.open.values()) {
      const session = vscode.debug.activeDebugSession;
      if (!shown.data || (session && this.isAbout(session, shown))) continue;
      const step = stepOnLine(shown.data.steps, uri, editor.selection.active.line, shown.selected);
      if (step > 0) shown.select(step);
    }
  }

  /** Writes a counterexample to a file: as a page, a chart, text, or for another tool. */
  async exportTrace(which: Which): Promise<void> {
    const kinds: (vscode.QuickPickItem & { format: ExportFormat | "html"; end: string })[] = [
      { label: "HTML", description: "one file with everything in it, to step through in a browser", format: "html", end: "html" },
      { label: "Mermaid", description: "a sequence diagram", format: "mermaid", end: "mmd" },
      { label: "ITF", description: "states as JSON, for tools for TLA+ and Quint", format: "itf", end: "itf.json" },
      { label: "Text", description: "for an issue or a letter", format: "text", end: "txt" },
      ...(which.run
        ? []
        : [{ label: "Run", description: "to open in the explorer or the debugger, also when the model has changed", format: "run" as const, end: "json" }]),
      { label: "Trail", description: "for spin -t", format: "trail", end: "trail" },
    ];
    const kind = await vscode.window.showQuickPick(kinds, { title: "Export the trace as" });
    if (!kind) return;
    const model = vscode.Uri.parse(which.uri);
    const name = `${path.basename(model.fsPath).replace(/\.\w+$/, "")}-${(which.run ?? which.property ?? "trace").replaceAll(" ", "-")}.${kind.end}`;
    const target = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.joinPath(model, "..", name) });
    if (!target) return;
    await vscode.workspace.fs.writeFile(target, Buffer.from(await this.text(which, kind.format), "utf8"));
    await vscode.commands.executeCommand("vscode.open", target);
  }

  /** A counterexample in a format. */
  async text(which: Which, format: ExportFormat | "html"): Promise<string> {
    if (format !== "html") return (await this.server.request("fabius/export", { ...which, format })).text;
    const data = await loadTrace(this.server, which);
    const script = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.context.extensionUri, "dist", "trace.js"));
    const nonce = randomBytes(16).toString("hex");
    return page(`${data.model}: ${data.message}`, nonce, Buffer.from(script).toString("utf8"), style, data);
  }

  dispose(): void {
    for (const shown of this.open.values()) shown.panel.dispose();
    this.disposables.forEach((disposable) => { disposable.dispose(); });
  }
}
