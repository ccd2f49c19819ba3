// How hot statements are, in the background of the text.

import * as vscode from "vscode";
import type { Coverage } from "./protocol";
import { heat, type Heat, LEVELS, type Level } from "./pure/heat";
import type { Server } from "./server";
import { toRange } from "./tests";

const SETTING = "fabius.heat";

/** Whether it is to be shown in a document. */
function isOn(uri: vscode.Uri): boolean {
  return vscode.workspace.getConfiguration(undefined, uri).get<boolean>(SETTING, false);
}

export class HeatMap implements vscode.Disposable {
  private readonly types = new Map<Level, vscode.TextEditorDecorationType>(
    LEVELS.map((level) => {
      const color = new vscode.ThemeColor(`fabius.heat${level}`);
      const ruler = { overviewRulerColor: color, overviewRulerLane: vscode.OverviewRulerLane.Left };
      const rangeBehavior = vscode.DecorationRangeBehavior.ClosedClosed;
      return [level, vscode.window.createTextEditorDecorationType({ backgroundColor: color, rangeBehavior, ...ruler })];
    }),
  );

  /** What is shown of what is known. */
  of(uri: vscode.Uri, known: Coverage | null): Heat[] {
    return known && isOn(uri) ? heat(known) : [];
  }

  /** Shows what is known about the present text. */
  draw(editor: vscode.TextEditor, known: Coverage | null): void {
    const shown = this.of(editor.document.uri, known);
    for (const [level, type] of this.types) {
      const statements = shown.filter((one) => one.level === level);
      editor.setDecorations(type, statements.map(({ range, hover }) => ({ range: toRange(range), hoverMessage: hover })));
    }
  }

  dispose(): void {
    this.types.forEach((type) => { type.dispose(); });
  }
}

/** Shows the heat of statements if it is hidden, and hides it otherwise. */
export async function toggleHeat(server: Server, uri: vscode.Uri): Promise<void> {
  const on = !isOn(uri);
  await vscode.workspace.getConfiguration().update(SETTING, on, vscode.ConfigurationTarget.Global);
  // Where nobody wants hints, the reachable states were not looked at.
  if (on) await server.request("fabius/survey", { uri: uri.toString() });
}
