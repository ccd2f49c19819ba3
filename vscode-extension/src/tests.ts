// The Test Explorer: each property of each model is a test.

import * as path from "node:path";
import * as vscode from "vscode";
import { loadCoverage, ModelCoverage } from "./coverage";
import type { StepThrough } from "./debug";
import type { PropertyStatus, Requests, Status } from "./protocol";
import { MODEL_FILES } from "./pure/endings";
import { turnOf } from "./pure/queue";
import { judge, settled } from "./pure/words";
import type { Server } from "./server";
import type { Store } from "./store";

const STACK_STEPS_MAX = 100;
/** The protocol's number for an error. */
const ERROR_SEVERITY = 1;

interface Continuous {
  request: vscode.TestRunRequest;
  uris: Set<string>;
}

export class Tests implements vscode.Disposable {
  readonly controller = vscode.tests.createTestController("fabius", "Fabius");
  private readonly disposables: vscode.Disposable[] = [this.controller];
  private readonly continuous = new Set<Continuous>();
  /** What the Test Explorer shows of each property. */
  private readonly reported = new Map<string, string>();
  private readonly outdated = new Set<string>();
  /** Models whose files are not there any more. */
  private readonly gone = new Set<string>();
  /** A run that somebody asked for goes on, and reports by itself. */
  private busy = 0;

  constructor(
    private readonly store: Store,
    private readonly server: Server,
    private readonly stepThrough: StepThrough,
  ) {
    const { controller } = this;
    controller.resolveHandler = async (item) => {
      await (item ? this.open(item) : this.discover());
    };
    controller.refreshHandler = () => this.discover();
    const run = controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, (request, token) =>
      request.continuous ? this.watch(request, token) : this.run(request, token),
    );
    run.isDefault = true;
    run.supportsContinuousRun = true;
    controller.createRunProfile("Step Through", vscode.TestRunProfileKind.Debug, (request, token) =>
      this.debug(request, token),
    );
    const coverage = controller.createRunProfile("Coverage", vscode.TestRunProfileKind.Coverage, (request, token) =>
      this.run(request, token, true),
    );
    coverage.loadDetailedCoverage = (_run, covered) =>
      Promise.resolve(covered instanceof ModelCoverage ? covered.details : []);
    const watcher = vscode.workspace.createFileSystemWatcher(MODEL_FILES, false, true, true);
    watcher.onDidCreate((uri) => {
      this.gone.delete(uri.toString());
      this.model(uri);
    });
    // A folder that is renamed or deleted takes its models along; only the folder itself is told of.
    const removals = vscode.workspace.createFileSystemWatcher("**", true, true, false);
    removals.onDidDelete((uri) => { this.removed(uri.toString()); });
    this.disposables.push(
      watcher,
      removals,
      store.onChange((status) => { this.follow(status); }),
      store.onForget((uri) => { if (uri !== undefined) this.closed(uri); }),
    );
  }

  private async discover(): Promise<void> {
    const found = await vscode.workspace.findFiles(MODEL_FILES, "**/node_modules/**");
    const there = new Set(found.map((uri) => uri.toString()));
    for (const [id, { uri }] of this.controller.items) {
      if (uri && vscode.workspace.getWorkspaceFolder(uri) && !there.has(id)) this.controller.items.delete(id);
    }
    this.gone.clear();
    found.forEach((uri) => this.model(uri));
  }

  /** A file or a folder is not there any more; a model in it may still be open. */
  private removed(uri: string): void {
    for (const [id] of this.controller.items) {
      if (id !== uri && !id.startsWith(`${uri}/`)) continue;
      this.gone.add(id);
      this.controller.items.delete(id);
    }
  }

  /** A model from elsewhere is listed as long as it is open. */
  private closed(uri: string): void {
    if (!vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(uri))) this.controller.items.delete(uri);
  }

  /** The item of a model. */
  private model(uri: vscode.Uri): vscode.TestItem {
    const id = uri.toString();
    const known = this.controller.items.get(id);
    if (known) return known;
    const inside = vscode.workspace.getWorkspaceFolder(uri) !== undefined;
    const item = this.controller.createTestItem(id, inside ? vscode.workspace.asRelativePath(uri) : path.basename(uri.path), uri);
    if (!inside) item.description = path.dirname(uri.path);
    item.canResolveChildren = true;
    this.controller.items.add(item);
    return item;
  }

  /** Opens a model, so that the server reads it. */
  private async open(item: vscode.TestItem): Promise<void> {
    if (!item.uri || item.parent) return;
    await vscode.workspace.openTextDocument(item.uri);
    await this.store.until(item.uri, () => true);
  }

  /** The items follow what the server says. */
  private follow(status: Status): void {
    if (this.gone.has(status.uri)) return;
    const uri = vscode.Uri.parse(status.uri);
    const model = this.model(uri);
    const names = new Set(status.properties.map((property) => property.name));
    model.children.forEach((child) => {
      if (!names.has(child.label)) model.children.delete(child.id);
    });
    for (const property of status.properties) {
      const id = `${model.id}#${property.name}`;
      let item = model.children.get(id);
      if (!item) {
        item = this.controller.createTestItem(id, property.name, uri);
        model.children.add(item);
      }
      item.description = property.expected ? `${property.expected} is expected` : (property.kind ?? "");
      // The run button would stand before the sign that says that the property is being checked.
      item.range = property.range && !turnOf(status, property.name) ? toRange(property.range) : undefined;
      const stale = property.stale && this.reported.has(id);
      if (stale && !this.outdated.has(id)) this.controller.invalidateTestResults(item);
      if (stale) this.outdated.add(id);
      else this.outdated.delete(id);
    }
    model.canResolveChildren = false;
    if (status.running === null) {
      this.reportContinuous(status);
      this.reportTurned(status);
    }
  }

  /** What was run once follows when a later check says something else. */
  private reportTurned(status: Status): void {
    const turned = status.properties.filter((property) => {
      const before = this.reported.get(`${status.uri}#${property.name}`);
      return before !== undefined && !property.stale && property.verdict !== null && before !== judge(property).outcome;
    });
    if (turned.length > 0 && !this.busy) void this.reportAll(new vscode.TestRunRequest(), status, turned);
  }

  /** The properties that a request is about; a model without any stands for itself. */
  private async chosen(request: vscode.TestRunRequest): Promise<vscode.TestItem[]> {
    const excluded = new Set(request.exclude ?? []);
    const found: vscode.TestItem[] = [];
    const add = async (item: vscode.TestItem): Promise<void> => {
      if (excluded.has(item)) return;
      if (item.parent) {
        found.push(item);
        return;
      }
      if (item.canResolveChildren) await this.open(item);
      if (item.children.size === 0) found.push(item);
      for (const [, child] of item.children) await add(child);
    };
    const roots = request.include ?? [...this.controller.items].map(([, item]) => item);
    for (const item of roots) await add(item);
    return found;
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken, cover = false): Promise<void> {
    const run = this.controller.createTestRun(request);
    this.busy += 1;
    try {
      const items = await this.chosen(request);
      items.forEach((item) => { run.enqueued(item); });
      const models = new Set<string>();
      for (const item of items) {
        if (token.isCancellationRequested) run.skipped(item);
        else if (item.parent) await this.runOne(run, item, token);
        else await this.runWhole(run, item);
        if (item.uri) models.add(item.uri.toString());
      }
      if (cover) await this.cover(run, [...models], token);
    } finally {
      this.busy -= 1;
      run.end();
    }
  }

  /** A model without properties: its text is faulty, or there is nothing to check. */
  private async runWhole(run: vscode.TestRun, item: vscode.TestItem): Promise<void> {
    const { uri } = item;
    if (!uri) return;
    run.started(item);
    const faults = (await this.server.diagnostics(uri)).filter(({ severity }) => severity === ERROR_SEVERITY);
    if (faults.length === 0) {
      run.appendOutput(`${item.label}: there is nothing to check\r\n`, undefined, item);
      run.skipped(item);
      return;
    }
    const messages = faults.map(({ message, range }) => {
      const told = new vscode.TestMessage(`The model cannot be read: ${message}`);
      told.location = new vscode.Location(uri, toRange(range));
      return told;
    });
    faults.forEach(({ message, range }) => {
      run.appendOutput(`${item.label}:${range.start.line + 1}: ${message}\r\n`, undefined, item);
    });
    run.failed(item, messages);
  }

  private async runOne(run: vscode.TestRun, item: vscode.TestItem, token: vscode.CancellationToken): Promise<void> {
    const { uri, label } = item;
    if (!uri) return;
    await vscode.workspace.openTextDocument(uri);
    await this.store.until(uri, () => true, token);
    run.started(item);
    const began = Date.now();
    this.store.take(await this.server.request("fabius/run", { uri: uri.toString(), property: label }));
    if (this.store.of(uri)?.faulty) {
      await this.runWhole(run, item);
      return;
    }
    const done = await this.store.until(uri, (status) => settled(status, label), token);
    const property = this.store.property(uri, label);
    if (!done || !property) {
      if (token.isCancellationRequested) await this.server.request("fabius/stop", { uri: uri.toString() });
      run.skipped(item);
      return;
    }
    await this.report(run, item, property, Date.now() - began);
  }

  /** Says how a property did. */
  private async report(run: vscode.TestRun, item: vscode.TestItem, property: PropertyStatus, ms?: number): Promise<void> {
    const { outcome, message } = judge(property);
    this.reported.set(item.id, outcome);
    run.appendOutput(`${property.name}: ${message}\r\n`, undefined, item);
    if (outcome === "passed") {
      run.passed(item, ms);
      return;
    }
    if (outcome === "skipped") {
      run.skipped(item);
      return;
    }
    const told = await this.message(item, property, message);
    if (outcome === "failed") run.failed(item, told, ms);
    else run.errored(item, told, ms);
  }

  /** A message with the steps of the counterexample as its stack, the last one on top. */
  private async message(item: vscode.TestItem, property: PropertyStatus, text: string): Promise<vscode.TestMessage> {
    const message = new vscode.TestMessage(text);
    if (item.uri && item.range) message.location = new vscode.Location(item.uri, item.range);
    if (property.counterexamples === 0 || !item.uri) return message;
    const uri = item.uri.toString();
    const ask = (from: number): Promise<Requests["fabius/trace"]["answer"]> =>
      this.server.request("fabius/trace", { uri, property: property.name, from, count: STACK_STEPS_MAX });
    let page = await ask(1);
    if (page.steps > STACK_STEPS_MAX) page = await ask(page.steps - STACK_STEPS_MAX + 1);
    const told = new vscode.MarkdownString([`**${page.message}**`, ...page.explanation].join("\n\n"));
    if (page.advice) told.appendMarkdown(`\n\n${page.advice}`);
    message.message = told;
    message.stackTrace = page.page
      .map((step) => {
        const uri = step.uri ? vscode.Uri.parse(step.uri) : undefined;
        const at = toRange(step.range).start;
        return new vscode.TestMessageStackFrame(`${step.step} ${step.process}[${step.pid}] ${step.text}`, uri, at);
      })
      .reverse();
    const last = page.page.at(-1);
    if (last?.uri) message.location = new vscode.Location(vscode.Uri.parse(last.uri), toRange(last.range));
    return message;
  }

  private async debug(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = this.controller.createTestRun(request, undefined, false);
    try {
      const [item] = await this.chosen(request);
      if (!item?.uri) return;
      if (!item.parent) {
        await this.runWhole(run, item);
        return;
      }
      await this.runOne(run, item, token);
      const property = this.store.property(item.uri, item.label);
      if (!token.isCancellationRequested) {
        await this.stepThrough(item.uri, property && property.counterexamples > 0 ? property.name : undefined);
      }
    } finally {
      run.end();
    }
  }

  /** Continuous run: each time a check is over, its outcome is a run. */
  private async watch(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const items = await this.chosen(request);
    const uris = new Set(items.map((item) => item.uri?.toString() ?? ""));
    const watching: Continuous = { request, uris };
    this.continuous.add(watching);
    token.onCancellationRequested(() => this.continuous.delete(watching));
    for (const uri of uris) {
      const status = this.store.of(vscode.Uri.parse(uri));
      if (status?.running === null) this.reportContinuous(status);
    }
  }

  private reportContinuous(status: Status): void {
    for (const watching of this.continuous) {
      if (!watching.uris.has(status.uri)) continue;
      const chosen = watching.request.include;
      const model = this.controller.items.get(status.uri);
      const properties = status.properties.filter((property) => {
        const item = model?.children.get(`${status.uri}#${property.name}`);
        const wanted = item && (!chosen || chosen.includes(item) || (model && chosen.includes(model)));
        const fresh = item && this.reported.get(item.id) !== judge(property).outcome;
        return wanted && fresh && !property.stale && property.verdict !== null;
      });
      // The editor knows a run by its request: each report is a run of its own.
      const { include, exclude, profile } = watching.request;
      const again = new vscode.TestRunRequest(include, exclude, profile, true);
      if (properties.length > 0) void this.reportAll(again, status, properties);
    }
  }

  private async reportAll(request: vscode.TestRunRequest, status: Status, properties: PropertyStatus[]): Promise<void> {
    const run = this.controller.createTestRun(request);
    try {
      for (const property of properties) {
        const item = this.controller.items.get(status.uri)?.children.get(`${status.uri}#${property.name}`);
        if (item) await this.report(run, item, property);
      }
    } finally {
      run.end();
    }
  }

  /** Which statements some run executes. */
  private async cover(run: vscode.TestRun, models: string[], token: vscode.CancellationToken): Promise<void> {
    for (const model of models) {
      const uri = vscode.Uri.parse(model);
      this.store.take(await this.server.request("fabius/survey", { uri: model }));
      if (!(await this.store.until(uri, (status) => !status.surveying, token))) continue;
      for (const coverage of await loadCoverage(this.server, uri)) run.addCoverage(coverage);
    }
  }

  dispose(): void {
    this.disposables.forEach((disposable) => { disposable.dispose(); });
  }
}

export function toRange(range: { start: { line: number; character: number }; end: { line: number; character: number } }): vscode.Range {
  return new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
}
