// The trace panel. It runs inside the editor, and as it is in an exported file.

import type { TraceData } from "../pure/trace";
import { TraceView } from "./view";

interface Host {
  postMessage(message: object): void;
  setState(state: object): void;
}

declare function acquireVsCodeApi(): Host;

const host: Host | undefined = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : undefined;
const app = document.getElementById("app");

type FromHost =
  | { type: "trace"; data: TraceData; selected: number; which: object }
  | { type: "select"; step: number }
  | { type: "matches"; pattern: string; steps: number[]; sentence: string }
  | { type: "gone" };

function start(root: HTMLElement): void {
  let which: object = {};
  const view = new TraceView(root, {
    inEditor: host !== undefined,
    select: (step) => {
      host?.setState({ which, step });
      host?.postMessage({ type: "select", step });
    },
    open: (step) => host?.postMessage({ type: "open", step }),
    original: (step) => host?.postMessage({ type: "original", step }),
    exportTrace: () => host?.postMessage({ type: "export" }),
    findMatches: (pattern) => host?.postMessage({ type: "matches", pattern }),
  });
  window.addEventListener("message", (event: MessageEvent<FromHost>) => {
    const message = event.data;
    if (message.type === "trace") {
      which = message.which;
      host?.setState({ which, step: message.selected });
      view.show(message.data, message.selected);
    } else if (message.type === "select") {
      host?.setState({ which, step: message.step });
      view.choose(message.step);
    } else if (message.type === "matches") {
      view.found(message.pattern, message.steps, message.sentence);
    } else {
      view.gone();
    }
  });
  const data = document.getElementById("data")?.textContent;
  if (data) view.show(JSON.parse(data) as TraceData, 0);
  host?.postMessage({ type: "ready" });
}

if (app) start(app);
