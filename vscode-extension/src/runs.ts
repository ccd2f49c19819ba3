// Counterexamples as files, so that the debugger and the terminal explorer show the very run that the editor shows.

import { createHash } from "node:crypto";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Which } from "./protocol";
import type { Server } from "./server";
import type { Store } from "./store";

export class Runs {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly store: Store,
    private readonly server: Server,
  ) {}

  /** Writes a counterexample to a file; none if it is not one to the text that is on the disk. */
  async save({ uri, property, counterexample = 0 }: Which & { property: string }): Promise<vscode.Uri | undefined> {
    const model = vscode.Uri.parse(uri);
    const known = this.store.property(model, property);
    const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === model.toString());
    if (!known || known.counterexamples <= counterexample || known.stale || document?.isDirty) return undefined;
    const params = { uri: model.toString(), property, counterexample, format: "run" } as const;
    const { text } = await this.server.request("fabius/export", params);
    const about = createHash("sha256").update(`${model.toString()}#${counterexample}`).digest("hex").slice(0, 12);
    const name = `${path.parse(model.path).name}-${property}-${about}.json`;
    const file = vscode.Uri.joinPath(this.context.globalStorageUri, "runs", name);
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text));
    return file;
  }
}
