// Coverage: which statements some run executes.

import * as vscode from "vscode";
import type { Server } from "./server";

/** The coverage of one model. */
export class ModelCoverage extends vscode.FileCoverage {
  constructor(
    uri: vscode.Uri,
    readonly details: vscode.StatementCoverage[],
  ) {
    const executed = details.filter((detail) => Number(detail.executed) > 0).length;
    super(uri, new vscode.TestCoverageCount(executed, details.length));
  }
}

export async function loadCoverage(server: Server, uri: vscode.Uri): Promise<ModelCoverage[]> {
  const lines = await server.request("fabius/lines", { uri: uri.toString() });
  if (!lines?.coverage) return [];
  const details = lines.coverage.statements.map(({ range, transitions }) => {
    const { start, end } = range;
    const place = new vscode.Range(start.line, start.character, end.line, end.character);
    return new vscode.StatementCoverage(transitions, place);
  });
  return [new ModelCoverage(uri, details)];
}
