// The panel with a drawing of the state graph or of automata. A click on a state or a step leads to its lines in the model.

import { linesOf, zoomed } from "../pure/graph";
import { el } from "./dom";
import { drawingOf } from "./drawing";

interface Host {
  postMessage(message: object): void;
  setState(state: object): void;
}

declare function acquireVsCodeApi(): Host;

type FromHost =
  | { type: "drawing"; svg: string; sentence: string; which: object }
  | { type: "refused"; why: string }
  | { type: "at"; at?: Here };

/** Where processes are in the trace that is followed. */
interface Here {
  step: number;
  locations: string[];
}

/** Marks where processes are; says of what. */
function mark(drawing: ParentNode, at: Here | undefined): string {
  const locations = new Set(at?.locations);
  for (const node of drawing.querySelectorAll("[data-location]")) {
    node.classList.toggle("here", locations.has(node.getAttribute("data-location") ?? ""));
  }
  return at ? `marked: where the processes are after step ${at.step} of the trace` : "";
}

function start(root: HTMLElement, host: Host): void {
  const sentence = el("p", { class: "sentence", role: "status" });
  const following = el("p", { class: "following", role: "status" });
  const place = el("div", { class: "graph", tabindex: 0, "aria-label": "Graph" });
  const shadow = place.attachShadow({ mode: "open" });
  const own = new CSSStyleSheet();
  // A click on what is written in a node is one on the node. A step is thin: what is written at it counts, too.
  own.replaceSync(`[data-lines] { cursor: pointer } text:not([data-lines]) { pointer-events: none }
    .chosen { stroke: #1f6feb !important; stroke-width: 3.5 !important }
    .here { fill: #ffd33d !important; fill-opacity: 0.55 !important; stroke: #9a6700 !important; stroke-width: 3 !important }
    text.chosen { stroke: none !important; fill: #1f6feb !important; font-weight: bold }`);
  const button = (label: string, title: string, run: () => void): HTMLButtonElement => {
    const made = el("button", { title }, label);
    made.addEventListener("click", run);
    return made;
  };
  let scale = 1;
  let drawn: Element | undefined;
  const resize = (step: number): void => {
    scale = step === 0 ? 1 : zoomed(scale, step);
    const box = drawn?.getAttribute("viewBox")?.split(" ").map(Number);
    if (!drawn || !box) return;
    drawn.setAttribute("width", String((box[2] ?? 0) * scale));
    drawn.setAttribute("height", String((box[3] ?? 0) * scale));
  };
  root.append(
    el(
      "div",
      { class: "bar" },
      button("−", "Smaller", () => { resize(-1); }),
      button("+", "Larger", () => { resize(1); }),
      button("100 %", "As it was", () => { resize(0); }),
      button("Other Graph …", "Put states together, or show automata", () => { host.postMessage({ type: "choose" }); }),
      sentence,
      following,
    ),
    place,
  );
  place.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      resize(event.deltaY < 0 ? 1 : -1);
    },
    { passive: false },
  );
  shadow.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const lines = linesOf(event.target.getAttribute("data-lines"));
    if (lines.length === 0) return;
    shadow.querySelector(".chosen")?.classList.remove("chosen");
    event.target.classList.add("chosen");
    host.postMessage({ type: "lines", lines });
  });
  window.addEventListener("message", (event: MessageEvent<FromHost>) => {
    const message = event.data;
    if (message.type === "at") {
      following.textContent = mark(shadow, message.at);
      return;
    }
    if (message.type === "refused") {
      sentence.textContent = message.why;
      drawn?.remove();
      drawn = undefined;
      return;
    }
    host.setState(message.which);
    const { drawing, sheets } = drawingOf(message.svg);
    shadow.adoptedStyleSheets = [...sheets, own];
    drawn?.remove();
    shadow.append(drawing);
    drawn = drawing;
    sentence.textContent = message.sentence;
    resize(0);
  });
  host.postMessage({ type: "ready" });
}

const app = document.getElementById("app");
if (app) start(app, acquireVsCodeApi());
