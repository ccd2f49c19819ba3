// The debugger, through the editor's own interfaces.

import type * as vscode from "vscode";
import type { Api } from "../../src/extension";

export async function debugger_(api: Api, uri: vscode.Uri): Promise<void> {
  await Promise.resolve([api, uri]);
}
