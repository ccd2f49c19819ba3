// The view “Properties”: each model, each property, what is known about it.

import * as vscode from "vscode";
import type { PropertyStatus, State, Status } from "./protocol";
import type { Store } from "./store";
import { queueOf, turnInWords, turnOf, type Turn } from "./pure/queue";

export interface PropertyNode {
  uri: string;
  property: PropertyStatus;
  turn: Turn | undefined;
}

export interface ModelNode {
  status: Status;
}

type Node = ModelNode | PropertyNode;

const ICONS: Record<State, [string, string | undefined]> = {
  unknown: ["circle-outline", undefined],
  running: ["sync~spin", undefined],
  stale: ["history", "disabledForeground"],
  holds: ["pass", "testing.iconPassed"],
  violated: ["error", "testing.iconFailed"],
  undecided: ["question", "testing.iconQueued"],
  faulty: ["circle-slash", "testing.iconErrored"],
};

const WAITING: [string, string | undefined] = ["watch", undefined];

/** Milliseconds between two changes that only say how far a search is. */
const PROGRESS_PAUSE = 1000;

/** All that a person should see of a status at once. */
function outlineOf({ version, running, waiting, properties }: Status): string {
  const turns = waiting.map(({ property }) => property);
  return JSON.stringify([version, running?.property, running?.tier, running?.ahead, turns, properties]);
}

export class PropertyTree implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly outlines = new Map<string, string>();
  private later: NodeJS.Timeout | undefined;

  constructor(private readonly store: Store) {
    store.onChange((status) => { this.follow(status); });
    store.onForget(() => {
      this.outlines.clear();
      this.show();
    });
  }

  /** What is new is shown at once; how far a search is, once in a while: the buttons of a row that changes all the time cannot be hit. */
  private follow(status: Status): void {
    const now = outlineOf(status);
    if (this.outlines.get(status.uri) === now) {
      this.later ??= setTimeout(() => { this.show(); }, PROGRESS_PAUSE);
      return;
    }
    this.outlines.set(status.uri, now);
    this.show();
  }

  private show(): void {
    clearTimeout(this.later);
    this.later = undefined;
    this.changed.fire(undefined);
  }

  getChildren(node?: Node): Node[] {
    if (!node) {
      return this.store.all().sort((a, b) => a.uri.localeCompare(b.uri)).map((status) => ({ status }));
    }
    if (!("status" in node)) return [];
    const { status } = node;
    return status.properties.map((property) => ({ uri: status.uri, property, turn: turnOf(status, property.name) }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return "status" in node ? modelItem(node.status) : propertyItem(node);
  }
}

function modelItem(status: Status): vscode.TreeItem {
  const uri = vscode.Uri.parse(status.uri);
  const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.Expanded);
  item.id = status.uri;
  item.contextValue = status.running ? `model ${status.running.ahead === null ? "running" : "waiting"}` : "model idle";
  const queue = queueOf(status);
  if (queue) item.description = queue;
  item.command = { command: "vscode.open", title: "Open", arguments: [uri] };
  return item;
}

function propertyItem({ uri, property, turn }: PropertyNode): vscode.TreeItem {
  const item = new vscode.TreeItem(property.name);
  item.id = `${uri}#${property.name}`;
  const waits = turn !== undefined && turn.kind !== "checked";
  const [icon, color] = waits ? WAITING : ICONS[property.state];
  const notAll = !turn && property.state === "holds" && !property.exhaustive;
  item.iconPath = notAll
    ? new vscode.ThemeIcon("pass", new vscode.ThemeColor("testing.iconQueued"))
    : new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
  const known = property.state === "unknown" ? "not checked yet" : (property.summary ?? "");
  const told = [known, property.replay].filter(Boolean).join(" · ");
  item.description = turn ? [turnInWords(turn), waits && property.summary].filter(Boolean).join(" · ") : told;
  const state = waits ? "waiting" : property.state;
  item.tooltip = `${property.name}: ${state}\n${item.description}`;
  item.contextValue = [
    "property",
    turn ? (waits ? "waiting" : "running") : "idle",
    property.verdict ? "known" : "",
    property.counterexamples > 0 ? "counterexample" : "",
  ].join(" ");
  item.accessibilityInformation = { label: `${property.name}, ${state}, ${item.description}` };
  if (property.range) {
    const { start } = property.range;
    const selection = new vscode.Range(start.line, start.character, start.line, start.character);
    const options: vscode.TextDocumentShowOptions = { selection };
    item.command = { command: "vscode.open", title: "Go to", arguments: [vscode.Uri.parse(uri), options] };
  }
  return item;
}
