// What the server says about each model. Status bar, tree, tests and decorations read it and nothing else.

import * as vscode from "vscode";
import type { PropertyStatus, Status } from "./protocol";
import { worstOf } from "./pure/words";

export class Store implements vscode.Disposable {
  private readonly known = new Map<string, Status>();
  private readonly changed = new vscode.EventEmitter<Status>();
  private readonly emptied = new vscode.EventEmitter<string | undefined>();
  /** There is something new about a model. */
  readonly onChange = this.changed.event;
  /** Nothing is known about a model any more, or about none. */
  readonly onForget = this.emptied.event;

  /**
   * Takes in what the server says, in a notification or an answer. The two may overtake each other: what is older than
   * what is known is left out.
   */
  take(status: Status | null): void {
    if (!status) return;
    const uri = vscode.Uri.parse(status.uri).toString();
    const before = this.known.get(uri);
    if (before && status.serial < before.serial) return;
    const taken = { ...status, uri };
    this.known.set(uri, taken);
    this.changed.fire(taken);
  }

  forget(uri: vscode.Uri): void {
    const key = uri.toString();
    if (this.known.delete(key)) this.emptied.fire(key);
  }

  clear(): void {
    this.known.clear();
    this.emptied.fire(undefined);
  }

  of(uri: vscode.Uri | undefined): Status | undefined {
    return uri ? this.known.get(uri.toString()) : undefined;
  }

  all(): Status[] {
    return [...this.known.values()];
  }

  property(uri: vscode.Uri, name: string): PropertyStatus | undefined {
    return this.of(uri)?.properties.find((property) => property.name === name);
  }

  /** The counterexample that a person most likely means. */
  counterexample(uri: vscode.Uri): PropertyStatus | undefined {
    const candidates = this.of(uri)?.properties.filter((property) => property.counterexamples > 0) ?? [];
    return worstOf(candidates);
  }

  /** Waits until something is so. */
  async until(uri: vscode.Uri, holds: (status: Status) => boolean, token?: vscode.CancellationToken): Promise<boolean> {
    const present = this.of(uri);
    if (present && holds(present)) return true;
    return new Promise<boolean>((resolve) => {
      const listeners: vscode.Disposable[] = [];
      const end = (value: boolean): void => {
        listeners.forEach((listener) => {
          listener.dispose();
        });
        resolve(value);
      };
      listeners.push(
        this.onChange((status) => {
          if (status.uri === uri.toString() && holds(status)) end(true);
        }),
        this.onForget((key) => {
          if (key === undefined || key === uri.toString()) end(false);
        }),
      );
      if (token) listeners.push(token.onCancellationRequested(() => { end(false); }));
    });
  }

  dispose(): void {
    this.changed.dispose();
    this.emptied.dispose();
  }
}
