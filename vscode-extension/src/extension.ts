// Where everything is put together. Nothing here takes long: the server starts in the background.

import * as vscode from "vscode";
import { commands } from "./commands";
import { debugging, type StepThrough, stepper } from "./debug";
import { Decorations } from "./decorations";
import { FalseParts } from "./falseParts";
import { Executions } from "./executions";
import { GraphPanels } from "./graphPanel";
import { Runs } from "./runs";
import { Server } from "./server";
import { statusItem } from "./statusItem";
import { Store } from "./store";
import { Tests } from "./tests";
import { TracePanels } from "./tracePanel";
import { PropertyTree } from "./tree";
import type { Which } from "./protocol";

/** What the tests in the editor look at. */
export interface Api {
  store: Store;
  server: Server;
  decorations: Decorations;
  tests: Tests;
  panels: TracePanels;
  executions: Executions;
  graphs: GraphPanels;
  falseParts: FalseParts;
  /** How long `activate` took, in milliseconds. */
  activation: number;
}

export function activate(context: vscode.ExtensionContext): Api {
  const began = performance.now();
  const store = new Store();
  const server: Server = new Server(context, {
    status: (status) => {
      // What is told of a document that was closed meanwhile would outlive it, and count for the next one of its name.
      const uri = vscode.Uri.parse(status.uri).toString();
      if (vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri)) store.take(status);
    },
    stopped: () => { store.clear(); },
    command: (name, argument) => carryOut(stepThrough, executions, name, argument as Which | undefined),
  });
  const runs = new Runs(context, store, server);
  const stepThrough = stepper(runs);
  const decorations = new Decorations(context, store, server);
  const tests = new Tests(store, server, stepThrough);
  const panels = new TracePanels(context, server, store);
  const executions: Executions = new Executions(server, panels, store);
  const graphs = new GraphPanels(context, server, store, panels);
  const falseParts = new FalseParts(server, panels);
  const tree = vscode.window.createTreeView("fabius.properties", { treeDataProvider: new PropertyTree(store) });
  context.subscriptions.push(
    store,
    server,
    decorations,
    tests,
    panels,
    executions,
    graphs,
    falseParts,
    tree,
    statusItem(store),
    debugging(context, store, runs),
    commands({ context, store, server, panels, executions, graphs, runs, stepThrough }),
    vscode.workspace.onDidCloseTextDocument((document) => { store.forget(document.uri); }),
  );
  void vscode.commands.executeCommand("setContext", "fabius.active", true);
  // The editor goes on before the server starts. What goes wrong there is told there.
  setImmediate(() => { server.start().catch(() => undefined); });
  return { store, server, decorations, tests, panels, executions, graphs, falseParts, activation: performance.now() - began };
}

/** Code lenses and fixes carry the server's commands; some of them are better carried out here. */
function carryOut(stepThrough: StepThrough, executions: Executions, name: string, about: Which | undefined): boolean {
  if (!about) return false;
  if (name === "fabius.contexts") {
    void executions.contexts(about as { uri: string; process: string });
    return true;
  }
  if (name === "fabius.causes") {
    void executions.causes(about as { uri: string; property: string });
    return true;
  }
  if (name === "fabius.sweep") {
    void executions.sweep(about as { uri: string; lines: number[] });
    return true;
  }
  if (name === "fabius.mutants") {
    void vscode.commands.executeCommand("fabius.showUnnoticed", vscode.Uri.parse(about.uri));
    return true;
  }
  if (name === "fabius.stuck") {
    void executions.stuck(about as { uri: string; lines: number[] });
    return true;
  }
  if (name === "fabius.executions") {
    void executions.show(vscode.Uri.parse(about.uri));
    return true;
  }
  if (name === "fabius.original") {
    void vscode.commands.executeCommand("fabius.openOriginal", about);
    return true;
  }
  if (name === "fabius.trace") {
    void stepThrough(vscode.Uri.parse(about.uri), about.property, about.counterexample);
    return true;
  }
  if (name === "fabius.explain") {
    void vscode.commands.executeCommand("fabius.explainVerdict", about);
    return true;
  }
  return false;
}
