// What the properties of a model say nothing about: changes that none of them notices. The server marks where they are.

import * as vscode from "vscode";
import type { Server } from "./server";

/** Has mutants of a model checked; what is said of all of them. */
export async function showUnnoticed(server: Server, uri: vscode.Uri): Promise<string> {
  await vscode.workspace.openTextDocument(uri);
  const title = "Fabius: checking changes of the model";
  const asked = vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () =>
    server.request("fabius/mutate", { uri: uri.toString() }),
  );
  const sentence = await asked.then(
    (answer) => answer.sentence,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  void vscode.window.showInformationMessage(sentence);
  return sentence;
}
