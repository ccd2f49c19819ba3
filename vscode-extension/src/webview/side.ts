// Beside the chart: why it goes wrong, the values after a step with what it changed, the loop as a ring.

import { onRing } from "../pure/chart";
import { isWanted, stuckIn, type TraceData, valuesAfter } from "../pure/trace";
import { el, svg } from "./dom";

const RING_STEPS_MAX = 60;
const RADIUS = 62;

export function side(
  root: HTMLElement,
  data: TraceData,
  step: number,
  filter: string,
  choose: (step: number) => void,
  filtered: (filter: string) => void,
  around: { above: readonly HTMLElement[]; below: readonly HTMLElement[] },
): void {
  const box = el("input", { class: "filter", type: "search", placeholder: "Filter by name", "aria-label": "Filter values by name", value: filter });
  const table = el("table");
  const fill = (): void => {
    const values = valuesAfter(data, step).filter(({ name }) => isWanted(name, box.value));
    table.replaceChildren(
      ...values.map(({ name, value, old }) =>
        el("tr", old === undefined ? {} : { class: "changed" }, el("td", {}, name), el("td", {}, old === undefined ? value : `${old} → ${value}`)),
      ),
    );
  };
  box.addEventListener("input", () => {
    filtered(box.value);
    fill();
  });
  fill();
  const title = step === 0 ? "Before the first step" : `After step ${step} of ${data.steps.length}`;
  const claim = data.steps[step - 1]?.claim ?? [];
  const values = el("section", { class: "state" }, el("h2", {}, title));
  if (claim.length > 0) values.append(el("p", { class: "claim" }, `${data.property} moves, too: ${claim.join("; ")}`));
  values.append(box, el("div", { class: "values" }, table));
  if (data.loopStart !== null) values.append(el("h2", {}, "The loop"), ring(data, step, data.loopStart, choose));
  const why = reasons(data);
  const focused = root.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement;
  root.replaceChildren(...around.above, ...(why ? [why] : []), values, ...around.below);
  if (focused) box.focus();
}

/** Why it goes wrong, and who is stuck in the end. */
function reasons(data: TraceData): HTMLElement | undefined {
  const parts: HTMLElement[] = [];
  if (data.explanation.length > 0 || data.advice) {
    parts.push(el("h2", {}, "Why"), ...[...data.explanation, ...(data.advice ? [data.advice] : [])].map((sentence) => el("p", {}, sentence)));
  }
  // A deadlock is explained by who is stuck.
  const stuck = stuckIn(data).filter((process) => !data.explanation.some((sentence) => sentence.includes(`${process.process}[${process.pid}]`)));
  if (stuck.length > 0) {
    parts.push(el("h2", {}, "In the end"));
    for (const process of stuck) {
      const why = process.waiting.map((waiting) => `${waiting.text}: ${waiting.reason}`).join("; ");
      parts.push(el("p", {}, `${process.process}[${process.pid}], line ${process.line}${why ? `: ${why}` : ""}`));
    }
  }
  return parts.length > 0 ? el("section", { class: "why" }, ...parts) : undefined;
}

/** The steps of the loop on a ring, the way into it from the left. */
function ring(data: TraceData, step: number, loopStart: number, choose: (step: number) => void): HTMLElement {
  const steps = data.steps.slice(loopStart - 1).slice(0, RING_STEPS_MAX);
  const size = RADIUS + 18;
  const round = svg("circle", { cx: 0, cy: 0, r: RADIUS, fill: "none", stroke: "currentColor", "stroke-opacity": 0.3 });
  const way = svg("path", { d: `M ${-size} ${-RADIUS} L -14 ${-RADIUS}` });
  const dots = steps.flatMap((one, index) => {
    const { x, y } = onRing(index, steps.length, RADIUS);
    const now = one.step === step ? "step now" : "step";
    const dot = svg("circle", { class: now, cx: x, cy: y, r: 9, "data-step": one.step }, svg("title", {}, `${one.process}[${one.pid}] ${one.text}`));
    dot.addEventListener("click", () => { choose(one.step); });
    return [dot, svg("text", { x, y }, String(one.step))];
  });
  const label = `The loop: steps ${loopStart} to ${data.steps.length}, again and again`;
  const picture = svg("svg", { class: "ring", viewBox: `${-size} ${-size} ${2 * size} ${2 * size}`, role: "img", "aria-label": label }, round, way, ...dots);
  const hidden = data.steps.length - loopStart + 1 - steps.length;
  const rest = hidden > 0 ? [el("p", {}, `… and ${hidden} more steps`)] : [];
  return el("div", {}, el("p", {}, label), picture as unknown as HTMLElement, ...rest);
}
