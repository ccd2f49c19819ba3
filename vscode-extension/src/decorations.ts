// Marks at the ends of lines, drawn from what the server says about the version that is shown.

import * as vscode from "vscode";
import type { Lines } from "./protocol";
import { endings, type Ending } from "./pure/marks";
import type { Server } from "./server";
import type { Store } from "./store";

export class Decorations implements vscode.Disposable {
  private readonly type = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
  });
  private readonly disposables: vscode.Disposable[] = [this.type];
  /** The last marks of each document. */
  private readonly shown = new Map<string, { version: number; endings: Ending[] }>();

  constructor(
    private readonly store: Store,
    private readonly server: Server,
  ) {
    this.disposables.push(
      store.onChange((status) => {
        if (status.running === null) void this.ask(vscode.Uri.parse(status.uri));
      }),
      store.onForget(() => {
        this.shown.clear();
        this.drawAll();
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => { this.drawAll(); }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("fabius.decorations")) this.drawAll();
      }),
    );
  }

  /** The marks of a document, for tests. */
  marksOf(uri: vscode.Uri): readonly Ending[] {
    return this.shown.get(uri.toString())?.endings ?? [];
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
    this.shown.set(key, { version: lines.version, endings: endings(lines) });
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
  }

  dispose(): void {
    this.disposables.forEach((disposable) => { disposable.dispose(); });
  }
}
