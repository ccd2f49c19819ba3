// What the properties of a model say nothing about: changes that none of them notices, marked where they are.

import * as vscode from "vscode";
import type { Server } from "./server";
import { toRange } from "./tests";

export class Mutants implements vscode.Disposable {
  private readonly marks = vscode.languages.createDiagnosticCollection("fabius-mutants");
  private readonly disposables: vscode.Disposable[] = [this.marks];
  /** The files in which changes of a model are marked. */
  private readonly marked = new Map<string, vscode.Uri[]>();

  constructor(private readonly server: Server) {
    this.disposables.push(
      // What was found out is about the text as it was.
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.forget(document.uri);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => { this.forget(document.uri); }),
    );
  }

  /** Checks mutants of a model, and marks those that no property notices; what is said of all of them. */
  async show(uri: vscode.Uri): Promise<string> {
    await vscode.workspace.openTextDocument(uri);
    const title = "Fabius: checking changes of the model";
    const asked = vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () =>
      this.server.request("fabius/mutate", { uri: uri.toString() }),
    );
    const { sentence, stale, survivors } = await asked.then(
      (answer) => answer,
      (error: unknown) => ({ sentence: error instanceof Error ? error.message : String(error), stale: true, survivors: [] }),
    );
    this.forget(uri);
    void vscode.window.showInformationMessage(sentence);
    if (stale) return sentence;
    const found = new Map<string, vscode.Diagnostic[]>();
    for (const { uri: file, range, message } of survivors) {
      const mark = new vscode.Diagnostic(toRange(range), message, vscode.DiagnosticSeverity.Information);
      mark.source = "fabius mutate";
      found.set(file, [...(found.get(file) ?? []), mark]);
    }
    const files = [...found.keys()].map((file) => vscode.Uri.parse(file));
    for (const file of files) this.marks.set(file, found.get(file.toString()));
    this.marked.set(uri.toString(), files);
    return sentence;
  }

  /** Takes the marks away of each model of which a file is part. */
  private forget(file: vscode.Uri): void {
    const key = file.toString();
    for (const [model, files] of this.marked) {
      if (model !== key && !files.some((one) => one.toString() === key)) continue;
      for (const one of files) this.marks.delete(one);
      this.marked.delete(model);
    }
  }

  dispose(): void {
    this.disposables.forEach((disposable) => { disposable.dispose(); });
  }
}
