// Signs in the gutter, at the lines of formulas, claims and assertions.

import * as vscode from "vscode";
import type { Sign } from "./pure/signs";

const SIGNS: readonly Sign[] = ["violated", "checking", "waiting", "undecided", "stale", "holds"];

export class Gutter implements vscode.Disposable {
  private readonly types = new Map<Sign, vscode.TextEditorDecorationType>();

  constructor(context: vscode.ExtensionContext) {
    for (const sign of SIGNS) {
      this.types.set(sign, vscode.window.createTextEditorDecorationType({
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
        gutterIconPath: vscode.Uri.joinPath(context.extensionUri, "media", "gutter", `${sign}.svg`),
        gutterIconSize: "contain",
      }));
    }
  }

  draw(editor: vscode.TextEditor, signs: ReadonlyMap<number, Sign>): void {
    for (const [sign, type] of this.types) {
      const lines = [...signs].filter(([line, one]) => one === sign && line < editor.document.lineCount);
      editor.setDecorations(type, lines.map(([line]) => editor.document.lineAt(line).range));
    }
  }

  dispose(): void {
    for (const type of this.types.values()) type.dispose();
  }
}
