// The view “Properties”: each model, each property, what is known about it.

import * as vscode from "vscode";
import type { PropertyStatus, Running, State, Status } from "./protocol";
import type { Store } from "./store";
import { counted, grouped, listed, noErrorUpTo } from "./pure/words";

export interface PropertyNode {
  uri: string;
  property: PropertyStatus;
  running: Running | null;
}

type Node = { status: Status } | PropertyNode;

const ICONS: Record<State, [string, string | undefined]> = {
  unknown: ["circle-outline", undefined],
  running: ["sync~spin", undefined],
  stale: ["history", "disabledForeground"],
  holds: ["pass", "testing.iconPassed"],
  violated: ["error", "testing.iconFailed"],
  undecided: ["question", "testing.iconQueued"],
  faulty: ["circle-slash", "testing.iconErrored"],
};

export class PropertyTree implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly store: Store) {
    store.onChange(() => { this.changed.fire(undefined); });
    store.onForget(() => { this.changed.fire(undefined); });
  }

  getChildren(node?: Node): Node[] {
    if (!node) {
      return this.store.all().sort((a, b) => a.uri.localeCompare(b.uri)).map((status) => ({ status }));
    }
    if (!("status" in node)) return [];
    const { uri, running } = node.status;
    return node.status.properties.map((property) => ({ uri, property, running }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return "status" in node ? modelItem(node.status) : propertyItem(node);
  }
}

function modelItem(status: Status): vscode.TreeItem {
  const uri = vscode.Uri.parse(status.uri);
  const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.Expanded);
  item.id = status.uri;
  item.contextValue = status.running ? "model running" : "model idle";
  item.command = { command: "vscode.open", title: "Open", arguments: [uri] };
  return item;
}

function propertyItem({ uri, property, running }: PropertyNode): vscode.TreeItem {
  const item = new vscode.TreeItem(property.name);
  item.id = `${uri}#${property.name}`;
  const [icon, color] = ICONS[property.state];
  const notAll = property.state === "holds" && !property.exhaustive;
  item.iconPath = notAll
    ? new vscode.ThemeIcon("pass", new vscode.ThemeColor("testing.iconQueued"))
    : new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
  const own = running?.property === property.name ? running : null;
  const { states, depth } = own?.progress ?? {};
  const going = listed(noErrorUpTo(own?.bound), states !== undefined && counted(states, "state"), depth !== undefined && `depth ${grouped(depth)}`);
  const known = property.state === "unknown" ? "not checked yet" : (property.summary ?? "");
  item.description = property.state === "running" ? going || "checking" : [known, property.replay].filter(Boolean).join(" · ");
  item.tooltip = `${property.name}: ${property.state}\n${item.description}`;
  item.contextValue = [
    "property",
    property.state === "running" ? "running" : "idle",
    property.verdict ? "known" : "",
    property.counterexamples > 0 ? "counterexample" : "",
  ].join(" ");
  item.accessibilityInformation = { label: `${property.name}, ${property.state}, ${item.description}` };
  if (property.range) {
    const { start } = property.range;
    const selection = new vscode.Range(start.line, start.character, start.line, start.character);
    const options: vscode.TextDocumentShowOptions = { selection };
    item.command = { command: "vscode.open", title: "Go to", arguments: [vscode.Uri.parse(uri), options] };
  }
  return item;
}
