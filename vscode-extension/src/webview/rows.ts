// The rows of the chart: a line of text per step, a lane per process, an arrow per message.

import type { Chart } from "../pure/chart";
import { laneName, laneX, type Layout, ROW_HEIGHT } from "../pure/layout";
import type { TraceData } from "../pure/trace";
import { el, svg } from "./dom";

const rowY = (row: number): number => row * ROW_HEIGHT + ROW_HEIGHT / 2;

export function laneNames(chart: Chart, of: Layout): HTMLElement {
  const names = chart.lanes.map((lane, index) => {
    const name = el("span", { title: lane.name }, laneName(lane.name, of));
    name.style.left = `${laneX(of, index)}px`;
    name.style.maxWidth = `${of.upright ? of.head - 6 : of.lane - 4}px`;
    return name;
  });
  const head = el("div", { class: of.upright ? "lane-names upright" : "lane-names", "aria-hidden": "true" }, ...names);
  head.style.height = `${of.head}px`;
  head.style.width = `${of.width}px`;
  return head;
}

type Step = TraceData["steps"][number];

/** Where a statement was generated from; a link where the editor can open it. */
function originalOf(step: Step, original: string, inEditor: boolean): HTMLElement {
  if (!inEditor || !step.originalUri) return el("span", {}, original);
  return el("a", { class: "original", href: "#", tabindex: -1, title: "Open the original text beside the model" }, original);
}

export function rowOf(step: Step, index: number, of: Layout, loopStart: number | null, chosen: boolean, found: boolean, inEditor: boolean): HTMLElement {
  const loop = loopStart !== null && step.step >= loopStart;
  const classes = ["row", loop && "loop", step.fault && "fault", found && "found", chosen && "chosen"].filter(Boolean).join(" ");
  const who = `${step.process}[${step.pid}]`;
  const number = el("span", { class: "number" }, loop ? `⟳ ${step.step}` : String(step.step));
  const place = el("span", { class: "place" }, String(step.line));
  const text = el("span", { class: "text" }, place, step.text || "(end)");
  const told = [
    ...step.changes.map((change) => `${change.name}: ${change.old} → ${change.new}`),
    ...(step.printed ? [`prints ${JSON.stringify(step.printed)}`] : []),
    ...(step.notes ?? []).map((note) => `⚠ ${note.text}`),
    ...(step.fault ? [`✗ ${step.fault}`] : []),
  ];
  const original = step.original ? `from ${step.original.file}:${step.original.line}` : undefined;
  const change = el("span", { class: "change" }, told.join("   "), ...(original ? [told.length > 0 ? "   " : "", originalOf(step, original, inEditor)] : []));
  if (original) told.push(original);
  const said = el("span", { class: "said", title: [`${who} ${step.text}`, ...told].join("\n") }, number, text, change);
  said.style.width = `${of.said}px`;
  const label = `Step ${step.step}, ${who}, line ${step.line}, ${step.text}. ${told.join(". ")}`;
  const row = el(
    "div",
    { class: classes, id: `step-${step.step}`, role: "option", "data-step": step.step, "aria-selected": String(chosen), "aria-label": label },
    said,
  );
  row.style.top = `${index * ROW_HEIGHT}px`;
  return row;
}

/** The lanes behind the rows from `first` to `end`. */
export function drawLanes(chart: Chart, of: Layout, data: TraceData, shown: number[], first: number, end: number): SVGElement {
  const position = new Map(shown.map((step, index) => [step - 1, index]));
  const x = (lane: number): number => laneX(of, lane);
  const height = Math.max(shown.length * ROW_HEIGHT, 1);
  const parts: SVGElement[] = chart.lanes.map((_, lane) =>
    svg("line", { class: "thread", x1: x(lane), x2: x(lane), y1: first * ROW_HEIGHT, y2: end * ROW_HEIGHT }),
  );
  for (let index = first; index < end; index++) {
    const step = data.steps[(shown[index] ?? 0) - 1];
    const lane = step && chart.rows[step.step - 1];
    if (!step || lane === undefined) continue;
    const loop = data.loopStart !== null && step.step >= data.loopStart;
    const kind = step.fault ? "node fault" : loop ? "node loop" : "node";
    parts.push(svg("circle", { class: kind, cx: x(lane), cy: rowY(index), r: 4 }));
  }
  for (const arrow of chart.arrows) {
    const from = position.get(arrow.from.row);
    const to = position.get(arrow.to.row);
    if (from === undefined || to === undefined || to < first || from >= end) continue;
    parts.push(...arrowOf(arrow.kind, x(arrow.from.lane), rowY(from), x(arrow.to.lane), rowY(to), arrow.label));
  }
  return svg("svg", { class: "lanes", width: of.width, height, "aria-hidden": "true" }, ...parts);
}

function arrowOf(kind: string, x1: number, y1: number, x2: number, y2: number, label: string): SVGElement[] {
  // A message to oneself bends out of its lane.
  const bend = x1 === x2 ? 18 : 0;
  const line = `M ${x1} ${y1} C ${x1 + bend} ${y1} ${x2 + bend} ${y2} ${x2} ${y2}`;
  const angle = bend > 0 ? Math.PI : Math.atan2(y2 - y1, x2 - x1);
  const point = (turn: number, length: number): string =>
    `${x2 - length * Math.cos(angle + turn)},${y2 - length * Math.sin(angle + turn)}`;
  const head = svg("polygon", { class: "head", points: `${point(0, 4)} ${point(0.45, 12)} ${point(-0.45, 12)}` });
  return [svg("path", { class: `arrow ${kind}`, d: line }, svg("title", {}, label)), head];
}
