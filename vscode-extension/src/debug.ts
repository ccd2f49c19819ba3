// Debugging: `fabius dap` is the adapter; the editor's own keys step through runs.

import * as vscode from "vscode";
import { holding } from "./hold";
import type { Runs } from "./runs";
import { serverPath } from "./server";
import type { Store } from "./store";

/** Starts the debugger on a counterexample, or freely if there is none. */
export type StepThrough = (uri: vscode.Uri, property?: string, counterexample?: number) => Promise<boolean>;

/** What a session is about: the run that the editor shows; else a property, whose counterexample the debugger looks for. */
async function about(runs: Runs, uri: vscode.Uri, property: string | undefined, counterexample: number): Promise<object> {
  if (property === undefined) return {};
  const run = await runs.save({ uri: uri.toString(), property, counterexample });
  return run ? { property, trail: run.fsPath } : { property, counterexample };
}

export function stepper(runs: Runs): StepThrough {
  return async (uri, property, counterexample = 0) => {
    const folder = vscode.workspace.getWorkspaceFolder(uri);
    const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
    if (document?.isDirty) await document.save();
    return vscode.debug.startDebugging(folder, {
      type: "fabius",
      request: "launch",
      name: property === undefined ? "Step through the model" : `Counterexample to ${property}`,
      program: uri.fsPath,
      stopOnEntry: true,
      ...(await about(runs, uri, property, counterexample)),
    });
  };
}

export function debugging(context: vscode.ExtensionContext, store: Store, runs: Runs): vscode.Disposable {
  const factory: vscode.DebugAdapterDescriptorFactory = {
    createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(serverPath(context), ["dap"]),
  };
  const configurations: vscode.DebugConfigurationProvider = {
    async resolveDebugConfiguration(_folder, configuration) {
      if (configuration.type) return configuration;
      // Without launch.json the model in front is meant, and its counterexample if one is known.
      const editor = vscode.window.activeTextEditor;
      if (editor?.document.languageId !== "promela") return undefined;
      const { uri } = editor.document;
      const property = store.counterexample(uri)?.name;
      const name = "Step through the model";
      const run = await about(runs, uri, property, 0);
      return { type: "fabius", request: "launch", name, program: uri.fsPath, stopOnEntry: true, ...run };
    },
    resolveDebugConfigurationWithSubstitutedVariables(folder, configuration) {
      if (configuration["defines"] !== undefined) return configuration;
      const defines = vscode.workspace.getConfiguration("fabius", folder).get<string[]>("defines", []);
      return defines.length > 0 ? { ...configuration, defines } : configuration;
    },
  };
  return vscode.Disposable.from(
    vscode.debug.registerDebugAdapterDescriptorFactory("fabius", factory),
    vscode.debug.registerDebugConfigurationProvider("fabius", configurations),
    ...holding(),
  );
}
