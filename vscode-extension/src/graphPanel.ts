// The panel with the state graph of a small model, or with the automata of its processes.

import { randomBytes } from "node:crypto";
import * as path from "node:path";
import * as vscode from "vscode";
import { type Drawn, titleOf } from "./pure/graph";
import { page } from "./pure/page";
import type { Server } from "./server";
import type { Which } from "./protocol";
import type { Store } from "./store";
import type { Moment, TracePanels } from "./tracePanel";
import style from "./webview/graph.css";

const VIEW = "fabius.graph";

type FromPanel = { type: "ready" } | { type: "choose" } | { type: "lines"; lines: number[] };

interface Shown {
  uri: vscode.Uri;
  drawn: Drawn;
  panel: vscode.WebviewPanel;
  /** The version of the text that is drawn. */
  version: number | undefined;
  /** What the panel says, for tests. */
  said: string;
  /** Where the processes are in the trace that it follows. */
  at: Here | undefined;
}

/** Where processes are after a step. */
interface Here {
  step: number;
  locations: string[];
}

export class GraphPanels implements vscode.Disposable {
  private readonly open = new Map<string, Shown>();
  private readonly disposables: vscode.Disposable[] = [];
  private readonly highlight = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
  });

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly server: Server,
    private readonly store: Store,
    panels: TracePanels,
  ) {
    this.disposables.push(
      this.highlight,
      panels.onMove(({ which, at }) => void this.follow(which, at)),
      vscode.window.registerWebviewPanelSerializer(VIEW, {
        deserializeWebviewPanel: async (panel, state: { uri?: string; drawn?: Drawn } | undefined) => {
          if (!state?.uri || !state.drawn) {
            panel.dispose();
            return;
          }
          const uri = vscode.Uri.parse(state.uri);
          await vscode.workspace.openTextDocument(uri);
          this.set(panel, uri, state.drawn);
        },
      }),
      store.onChange((status) => {
        const shown = this.open.get(status.uri);
        if (shown && status.running === null && status.version !== shown.version) void this.draw(shown);
      }),
    );
  }

  /** What the panel of a model shows, for tests. */
  stateOf(uri: vscode.Uri): { title: string; said: string; at: Here | undefined } | undefined {
    const shown = this.open.get(uri.toString());
    return shown && { title: shown.panel.title, said: shown.said, at: shown.at };
  }

  /** Where the trace of a model is that moved last. */
  private readonly moments = new Map<string, { which: Which; at: Moment | undefined }>();

  /** Marks in automata where the processes are at a step of a trace. */
  private async follow(which: Which, at: Moment | undefined): Promise<void> {
    this.moments.set(which.uri, { which, at });
    const shown = this.open.get(which.uri);
    if (!shown) return;
    shown.at = undefined;
    if (at) {
      const state = await this.server.request("fabius/step", { ...which, step: at.step }).catch(() => undefined);
      if (state) shown.at = { step: at.step, locations: state.processes.map(({ location }) => location) };
    }
    await this.mark(shown);
  }

  private async mark({ panel, drawn, at }: Shown): Promise<void> {
    await panel.webview.postMessage({ type: "at", at: drawn.automata ? at : undefined });
  }

  /** Shows a graph of a model; which one, somebody is asked unless it is said. */
  async show(uri: vscode.Uri, drawn?: Drawn): Promise<void> {
    const chosen = drawn ?? (await choose());
    if (!chosen) return;
    await vscode.workspace.openTextDocument(uri);
    const known = this.open.get(uri.toString());
    if (known) {
      known.drawn = chosen;
      known.panel.reveal();
      await this.draw(known);
      return;
    }
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
    const options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.context.extensionUri, "dist")] };
    this.set(vscode.window.createWebviewPanel(VIEW, "Graph", place, options), uri, chosen);
  }

  private set(panel: vscode.WebviewPanel, uri: vscode.Uri, drawn: Drawn): void {
    const shown: Shown = { uri, drawn, panel, version: undefined, said: "", at: undefined };
    this.open.set(uri.toString(), shown);
    panel.iconPath = vscode.Uri.joinPath(this.context.extensionUri, "media", "view.svg");
    panel.onDidDispose(() => {
      this.open.delete(uri.toString());
      this.unmark();
    });
    panel.webview.onDidReceiveMessage(async (message: FromPanel) => {
      if (message.type === "ready") await this.draw(shown);
      else if (message.type === "choose") await this.show(uri);
      else await this.reveal(uri, message.lines);
    });
    const script = panel.webview.asWebviewUri(vscode.Uri.joinPath(this.context.extensionUri, "dist", "graph.js"));
    panel.webview.html = page("Graph", randomBytes(16).toString("hex"), script.toString(), style);
  }

  private async draw(shown: Shown): Promise<void> {
    const { uri, drawn, panel } = shown;
    panel.title = `${titleOf(drawn)}: ${path.basename(uri.path)}`;
    shown.version = this.store.of(uri)?.version;
    try {
      const { svg, sentence } = await this.server.request("fabius/graph", { uri: uri.toString(), ...drawn });
      shown.said = sentence;
      await panel.webview.postMessage({ type: "drawing", svg, sentence, which: { uri: uri.toString(), drawn } });
      const moved = this.moments.get(uri.toString());
      if (moved) await this.follow(moved.which, moved.at);
    } catch (error) {
      shown.said = error instanceof Error ? error.message : String(error);
      await panel.webview.postMessage({ type: "refused", why: shown.said });
    }
  }

  /** Shows lines of the model in the editor. */
  private async reveal(uri: vscode.Uri, lines: number[]): Promise<void> {
    const there = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
    const viewColumn = there?.viewColumn ?? vscode.ViewColumn.One;
    const ranges = lines.map((line) => new vscode.Range(line - 1, 0, line - 1, 0));
    const [first] = ranges;
    if (!first) return;
    const editor = await vscode.window.showTextDocument(uri, { viewColumn, preserveFocus: true, selection: first });
    this.unmark();
    editor.setDecorations(this.highlight, ranges);
  }

  private unmark(): void {
    for (const editor of vscode.window.visibleTextEditors) editor.setDecorations(this.highlight, []);
  }

  dispose(): void {
    for (const { panel } of this.open.values()) panel.dispose();
    this.disposables.forEach((disposable) => { disposable.dispose(); });
  }
}

/** Asks what to draw. */
async function choose(): Promise<Drawn | undefined> {
  const kinds: (vscode.QuickPickItem & { drawn?: Drawn })[] = [
    { label: "States", description: "each state for itself", drawn: { automata: false } },
    { label: "States by Places", description: "put together where every process is at the same place", drawn: { by: "locations", automata: false } },
    { label: "States by Variables …", description: "put together where these have the same values" },
    { label: "Automata", description: "the places of each process type and its statements", drawn: { automata: true } },
  ];
  const kind = await vscode.window.showQuickPick(kinds, { title: "What is to be drawn?" });
  if (!kind || kind.drawn) return kind?.drawn;
  const by = await vscode.window.showInputBox({ title: "By which variables or channels?", placeHolder: "x, q" });
  return by?.trim() ? { by, automata: false } : undefined;
}
