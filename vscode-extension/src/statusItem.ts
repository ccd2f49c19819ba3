// The status item: one line about the model in front.

import * as vscode from "vscode";
import type { Store } from "./store";
import { short, statusLine, worstOf } from "./pure/words";

export function statusItem(store: Store): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("fabius.status", vscode.StatusBarAlignment.Left, 50);
  item.name = "Fabius";
  item.command = "fabius.showMenu";
  const show = (): void => {
    const document = vscode.window.activeTextEditor?.document;
    const status = document?.languageId === "promela" ? store.of(document.uri) : undefined;
    if (!status) {
      item.hide();
      return;
    }
    item.text = statusLine(status);
    const worst = worstOf(status.properties);
    const failing = worst?.state === "violated" && worst.expected !== "violated";
    item.backgroundColor = failing ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    const lines = status.properties.map((property) => `**${property.name}** ${property.summary ?? short(property, status.running)}`);
    if (status.leaveOut !== null) lines.push(`Checks do not go on where \`${status.leaveOut}\` is true.`);
    if (status.visitFirst !== null) lines.push(`Depth-first searches for violations of safety prefer states in which \`${status.visitFirst}\` is true.`);
    if (status.maxDepth !== null) lines.push(`Checks cut off runs after ${status.maxDepth} steps.`);
    item.tooltip = new vscode.MarkdownString(lines.join("\n\n"));
    item.accessibilityInformation = { label: `Fabius: ${statusLine(status)}` };
    item.show();
  };
  show();
  return vscode.Disposable.from(
    item,
    store.onChange(show),
    store.onForget(show),
    vscode.window.onDidChangeActiveTextEditor(show),
  );
}
