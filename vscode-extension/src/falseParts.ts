// The parts of conditions that keep processes from going on, underlined at the step that the trace panel or the debugger shows.

import * as vscode from "vscode";
import type { DebuggerEvents } from "./debugMessages";
import { characters, partsOf, type FalsePlace } from "./pure/falseParts";
import type { Server } from "./server";
import { toRange } from "./tests";
import type { TracePanels } from "./tracePanel";

export class FalseParts implements vscode.Disposable {
  private readonly type = vscode.window.createTextEditorDecorationType({
    textDecoration: "underline 2px",
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private places: FalsePlace[] = [];
  private asked = 0;
  private readonly disposables: vscode.Disposable[] = [this.type];

  constructor(server: Server, panels: TracePanels) {
    this.disposables.push(
      panels.onMove(({ which, at }) => {
        this.asked += 1;
        const { asked } = this;
        if (!at) {
          this.show([]);
          return;
        }
        // The run may be gone by now, and the panel somewhere else.
        server.request("fabius/why", { ...which, step: at.step }).then(
          (why) => { if (asked === this.asked) this.show(partsOf(why)); },
          () => undefined,
        );
      }),
      vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
        if (session.type !== "fabius" || event !== "fabius/at") return;
        this.asked += 1;
        void this.showStopped((body as DebuggerEvents["fabius/at"]).parts);
      }),
      vscode.debug.onDidTerminateDebugSession((session) => { if (session.type === "fabius") this.show([]); }),
      // What was underlined was so in the text as it was.
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && document.languageId === "promela") this.show([]);
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => { this.draw(); }),
    );
  }

  /** The texts that are underlined, for tests. */
  underlined(): string[] {
    return this.places.map(({ sentence }) => sentence);
  }

  /** The stretches of a document that are underlined, for tests. */
  underlinedIn(document: vscode.TextDocument): string[] {
    const uri = document.uri.toString();
    return this.places.filter((place) => place.uri === uri).map(({ range }) => document.getText(toRange(range)));
  }

  private async showStopped(parts: DebuggerEvents["fabius/at"]["parts"]): Promise<void> {
    const { asked } = this;
    const places: FalsePlace[] = [];
    for (const { process, sentence, file, line, column, endLine, endColumn } of parts) {
      const uri = vscode.Uri.file(file);
      const document = await vscode.workspace.openTextDocument(uri);
      const position = (line: number, column: number): { line: number; character: number } => ({
        line: line - 1,
        character: characters(document.lineAt(line - 1).text, column - 1),
      });
      places.push({ uri: uri.toString(), range: { start: position(line, column), end: position(endLine, endColumn) }, process, sentence });
    }
    if (asked === this.asked) this.show(places);
  }

  private show(places: FalsePlace[]): void {
    this.places = places;
    this.draw();
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.languageId !== "promela") continue;
      const uri = editor.document.uri.toString();
      const here = this.places.filter((place) => place.uri === uri);
      editor.setDecorations(this.type, here.map(({ range, process, sentence }) => ({
        range: toRange(range),
        hoverMessage: `${process} waits: ${sentence}`,
      })));
    }
  }

  dispose(): void {
    this.disposables.forEach((disposable) => { disposable.dispose(); });
  }
}
