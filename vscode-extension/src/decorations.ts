// Marks at the ends of lines and signs in the gutter, drawn from what the server says about the version that is shown.

import * as vscode from "vscode";
import type { Coverage, Lines, Status } from "./protocol";
import { Gutter } from "./gutter";
import { HeatMap } from "./heat";
import { endings, notExecutedHover, type Ending } from "./pure/marks";
import { signs, type Sign } from "./pure/signs";
import type { Server } from "./server";
import type { Store } from "./store";
import { toRange } from "./tests";

export class Decorations implements vscode.Disposable {
  private readonly type = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
  });
  /** Statements that nothing executed so far: hardly visible, and less so than what is known never to be executed. */
  private readonly notExecuted = vscode.window.createTextEditorDecorationType({
    textDecoration: "underline dotted 1px",
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly gutter: Gutter;
  private readonly heat = new HeatMap();
  private readonly disposables: vscode.Disposable[] = [this.type, this.notExecuted, this.heat];
  /** What is known about the lines of each document, as it was told last, and the signs that are shown. */
  private readonly shown = new Map<string, { lines: Lines; endings: Ending[]; signs: Map<number, Sign> }>();
  /** The version of each document, and the search that was running, when it was asked last. */
  private readonly asked = new Map<string, string>();

  constructor(
    context: vscode.ExtensionContext,
    private readonly store: Store,
    private readonly server: Server,
  ) {
    this.gutter = new Gutter(context);
    this.disposables.push(
      this.gutter,
      store.onChange((status) => { this.follow(status); }),
      store.onForget((key) => {
        for (const known of [this.shown, this.asked]) {
          if (key === undefined) known.clear();
          else known.delete(key);
        }
        this.drawAll();
      }),
      // What was executed, or was not, was so in the text as it was.
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const drawn = this.shown.get(document.uri.toString())?.lines;
        if (contentChanges.length > 0 && (drawn?.notExecuted ?? drawn?.coverage)) this.drawAll();
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => { this.drawAll(); }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (["fabius.decorations", "fabius.heat"].some((one) => change.affectsConfiguration(one))) this.drawAll();
      }),
    );
  }

  /** The marks of a document, for tests. */
  marksOf(uri: vscode.Uri): readonly Ending[] {
    return this.shown.get(uri.toString())?.endings ?? [];
  }

  /** The signs of a document, for tests. */
  signsOf(uri: vscode.Uri): ReadonlyMap<number, Sign> {
    return this.shown.get(uri.toString())?.signs ?? new Map<number, Sign>();
  }

  /** The places of statements of the present text that nothing executed so far, and what is said of them. */
  notExecutedIn(uri: vscode.Uri): { range: vscode.Range; hover: string }[] {
    const told = this.presentLines(uri)?.notExecuted;
    if (!told) return [];
    const hover = notExecutedHover(told);
    return told.ranges.map((range) => ({ range: toRange(range), hover }));
  }

  /** What is known of how often statements of the present text are executed, for tests. */
  heatIn(uri: vscode.Uri): ReturnType<HeatMap["of"]> {
    return this.heat.of(uri, this.coverageIn(uri));
  }

  private coverageIn(uri: vscode.Uri): Coverage | null {
    return this.presentLines(uri)?.coverage ?? null;
  }

  /** What is known about the lines of a document, if that is about its present text. */
  private presentLines(uri: vscode.Uri): Lines | undefined {
    const lines = this.shown.get(uri.toString())?.lines;
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    return document?.version === lines?.version ? lines : undefined;
  }

  private follow(status: Status): void {
    const uri = vscode.Uri.parse(status.uri);
    const known = this.shown.get(uri.toString());
    if (known && known.lines.version === status.version) {
      const now = signs(known.lines, status);
      const same = now.size === known.signs.size && [...now].every(([line, sign]) => known.signs.get(line) === sign);
      known.signs = now;
      if (!same) this.drawAll();
    }
    // What a search leaves behind is there when the next one runs.
    const moment = [status.version, status.running?.tier, status.running?.property].join();
    if (status.running === null || this.asked.get(uri.toString()) !== moment) {
      this.asked.set(uri.toString(), moment);
      void this.ask(uri);
    }
  }

  private async ask(uri: vscode.Uri): Promise<void> {
    const key = uri.toString();
    let lines: Lines | null;
    try {
      lines = await this.server.request("fabius/lines", { uri: key });
    } catch {
      return; // It was closed meanwhile.
    }
    const status = this.store.of(uri);
    if (!status || !lines || lines.version < status.version) return;
    this.shown.set(key, { lines, endings: endings(lines), signs: signs(lines, status) });
    this.drawAll();
  }

  private drawAll(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.languageId === "promela") this.draw(editor);
    }
  }

  private draw(editor: vscode.TextEditor): void {
    const on = vscode.workspace.getConfiguration("fabius", editor.document.uri).get<boolean>("decorations", true);
    const known = on ? this.marksOf(editor.document.uri) : [];
    const decorations = known
      .filter((ending) => ending.line < editor.document.lineCount)
      .map((ending): vscode.DecorationOptions => {
        const end = editor.document.lineAt(ending.line).range.end;
        const color = new vscode.ThemeColor(ending.stale ? "fabius.old" : `fabius.${ending.kind}`);
        const contentText = ending.stale ? `${ending.text} (before the last edits)` : ending.text;
        return {
          range: new vscode.Range(end, end),
          hoverMessage: ending.hover,
          renderOptions: { after: { contentText, color, margin: "0 0 0 2em", fontStyle: "normal" } },
        };
      });
    editor.setDecorations(this.type, decorations);
    const notExecuted = on ? this.notExecutedIn(editor.document.uri) : [];
    editor.setDecorations(this.notExecuted, notExecuted.map(({ range, hover }) => ({ range, hoverMessage: hover })));
    this.heat.draw(editor, this.coverageIn(editor.document.uri));
    this.gutter.draw(editor, on ? this.signsOf(editor.document.uri) : new Map<number, Sign>());
  }

  dispose(): void {
    this.disposables.forEach((disposable) => { disposable.dispose(); });
  }
}
