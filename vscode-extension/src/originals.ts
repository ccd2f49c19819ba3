// The original texts of generated models: what `#line` directives name, opened beside the model.

import * as vscode from "vscode";
import type { Server } from "./server";

/** Opens a file at a line, from 0: where it is already shown, or beside what is in front. */
export async function showOriginal(uri: string, line: number, preserveFocus: boolean): Promise<void> {
  const file = vscode.Uri.parse(uri);
  const document = await vscode.workspace.openTextDocument(file);
  const there = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
  const start = document.lineAt(Math.min(line, document.lineCount - 1)).range;
  const selection = new vscode.Range(start.start, start.start);
  await vscode.window.showTextDocument(document, { viewColumn: there?.viewColumn ?? vscode.ViewColumn.Beside, preserveFocus, selection });
}

/** Opens the original of a line of a model; of the line of the cursor if none is named. */
export async function openOriginal(server: Server, about?: { uri: string; lines: number[] }): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const uri = about?.uri ?? editor?.document.uri.toString();
  const line = about?.lines[0] ?? editor?.selection.active.line;
  if (uri === undefined || line === undefined) return;
  const found = await server.request("fabius/original", { uri, lines: [line] });
  if (found) {
    await showOriginal(found.uri, found.range.start.line, false);
  } else {
    void vscode.window.showInformationMessage("No directive says that this line was generated from another text, or that file is not there.");
  }
}
