// What the panel shows, and what its keys do.

import { type Chart, chart, windowOf } from "../pure/chart";
import { layout, ROW_HEIGHT } from "../pure/layout";
import { nextOf, patternOf, search, type TraceData } from "../pure/trace";
import { el } from "./dom";
import { type OwnPicture, ownPicture } from "./picture";
import { plotsOf } from "./plots";
import { markColumn, ribbonTable } from "./ribbon";
import { drawLanes, laneNames, rowOf } from "./rows";
import { side } from "./side";

export interface Actions {
  inEditor: boolean;
  /** The person chose a step. */
  select(step: number): void;
  /** The person wants to see its statement. */
  open(step: number): void;
  /** The person wants to see the text from which its statement was generated. */
  original(step: number): void;
  exportTrace(): void;
  /** The person wants to know where a pattern over the past is true. */
  findMatches(pattern: string): void;
}

export class TraceView {
  private data: TraceData | undefined;
  private chart: Chart = { lanes: [], rows: [], arrows: [] };
  private layout = layout(0, 0);
  private selected = 0;
  private wanted = "";
  private only = "";
  /** Where the pattern is true that was asked about last. */
  private matches: { pattern: string; steps: readonly number[] } | undefined;
  /** The steps that the filter leaves, by number. */
  private shown: number[] = [];
  private filter = "";
  private ribbon: HTMLElement | undefined;
  private picture: OwnPicture | undefined;
  private readonly steps = el("section", { class: "steps", role: "listbox", tabindex: 0, "aria-label": "Steps" });
  private readonly canvas = el("div", { class: "canvas" });
  private readonly aside = el("aside", { "aria-label": "State after the step" });
  private readonly box = el("input", { type: "search", placeholder: "Search (/), = pattern", "aria-label": "Search the steps; behind =, a pattern over the past" });
  /** What was found of the pattern. */
  private readonly told = el("span", { class: "told", role: "status" });
  private readonly lanes = el("select", { "aria-label": "Show the steps of" });

  constructor(
    private readonly root: HTMLElement,
    private readonly actions: Actions,
  ) {
    this.steps.addEventListener("scroll", () => { this.draw(); });
    this.steps.addEventListener("click", (event) => {
      const link = event.target instanceof Element && event.target.closest("a.original") !== null;
      if (link) event.preventDefault();
      this.clicked(event, (step) => {
        this.pick(step);
        if (link) this.actions.original(step);
      });
    });
    this.steps.addEventListener("dblclick", (event) => { this.clicked(event, (step) => { this.actions.open(step); }); });
    this.box.addEventListener("input", () => {
      this.wanted = this.box.value;
      this.forget();
      if (patternOf(this.wanted) !== undefined) {
        this.draw();
        return;
      }
      const here = Math.max(this.selected - 1, 0);
      const found = search(this.visible(), this.wanted, here, 1);
      if (found > 0) this.pick(found);
      this.draw();
    });
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
      if (event.key === "Escape" || event.key === "ArrowDown") this.steps.focus();
    });
    this.lanes.addEventListener("change", () => {
      this.only = this.lanes.value;
      this.refill();
    });
    this.steps.addEventListener("keydown", (event) => { this.key(event); });
    new ResizeObserver(() => {
      this.arrange();
      this.draw();
    }).observe(this.steps);
  }

  show(data: TraceData, selected: number): void {
    const again = this.data !== undefined;
    this.data = data;
    this.chart = chart(data.steps);
    this.lanes.replaceChildren(
      el("option", { value: "" }, "all processes"),
      ...this.chart.lanes.map((lane) => el("option", { value: lane.name }, lane.name)),
    );
    if (!this.chart.lanes.some((lane) => lane.name === this.only)) this.only = "";
    this.forget();
    this.lanes.value = this.only;
    const title = el("h1", {}, `${data.property}: ${data.message}`);
    if (data.stale) title.append(el("span", { class: "stale" }, " (before the last edits)"));
    const button = el("button", { type: "button" }, "Export…");
    button.addEventListener("click", () => { this.actions.exportTrace(); });
    const header = el("header", {}, title, this.lanes, this.box, this.told, ...(this.actions.inEditor ? [button] : []));
    this.picture = data.picture ? ownPicture(data.picture) : undefined;
    this.ribbon = data.ribbon ? ribbonTable(data.ribbon, (step) => { this.pick(step); }) : undefined;
    this.root.replaceChildren(header, this.steps, this.aside, ...(this.ribbon ? [this.ribbon] : []), this.keys());
    this.arrange();
    this.refill();
    this.choose(selected);
    if (!again) this.steps.focus();
  }

  /** Shows a step that something else chose. */
  choose(step: number): void {
    if (!this.data) return;
    this.selected = Math.max(0, Math.min(step, this.data.steps.length));
    this.intoView();
    this.draw();
    if (this.ribbon && this.data.ribbon) markColumn(this.ribbon, this.data.ribbon, this.selected);
    const chosen = (other: number): void => { this.pick(other); };
    this.picture?.after(this.selected);
    const problem = this.data.pictureProblem ? [el("p", { class: "claim" }, `The picture is not shown: ${this.data.pictureProblem}`)] : [];
    const above = [...(this.picture ? [this.picture.element] : []), ...problem];
    const below = this.data.plots?.length ? [plotsOf(this.data.plots, this.data.steps.length, this.selected, chosen)] : [];
    side(this.aside, this.data, this.selected, this.filter, chosen, (filter) => { this.filter = filter; }, { above, below });
  }

  /** It is known after which steps a pattern is true; no step if something is wrong with it. */
  found(pattern: string, steps: readonly number[], sentence: string): void {
    if (patternOf(this.wanted) !== pattern) return;
    this.matches = { pattern, steps };
    this.told.textContent = sentence;
    this.toMatch(this.selected - 1, 1);
    this.draw();
  }

  private forget(): void {
    this.matches = undefined;
    this.told.textContent = "";
  }

  /** Goes to the next match from a step on, of those that are shown. */
  private toMatch(from: number, direction: 1 | -1): void {
    const steps = this.matches?.steps ?? [];
    const next = nextOf(this.only ? steps.filter((step) => this.shown.includes(step)) : steps, from, direction);
    if (next !== undefined) this.pick(next);
  }

  gone(): void {
    this.root.replaceChildren(el("p", { class: "note" }, "There is no such counterexample any more."));
    this.data = undefined;
  }

  private pick(step: number): void {
    const before = this.selected;
    this.choose(step);
    if (this.selected !== before) this.actions.select(this.selected);
  }

  private visible(): TraceData["steps"] {
    const all = this.data?.steps ?? [];
    return this.only ? all.filter((step) => this.concerns(step)) : all;
  }

  private concerns(step: TraceData["steps"][number]): boolean {
    const partner = step.partner ? `${step.partner.process}[${step.partner.pid}]` : "";
    return `${step.process}[${step.pid}]` === this.only || partner === this.only;
  }

  /** Gives the columns their widths. */
  private arrange(): void {
    this.layout = layout(this.steps.clientWidth, this.chart.lanes.length);
    this.canvas.style.width = `${this.layout.width}px`;
    this.steps.replaceChildren(laneNames(this.chart, this.layout), this.canvas);
  }

  private refill(): void {
    this.shown = this.visible().map((step) => step.step);
    this.canvas.style.height = `${this.shown.length * ROW_HEIGHT}px`;
    this.draw();
  }

  /** Draws the rows in the window, and no others. */
  private draw(): void {
    const { data } = this;
    if (!data) return;
    const { scrollTop, clientHeight } = this.steps;
    const [first, end] = windowOf(scrollTop - this.layout.head, clientHeight, ROW_HEIGHT, this.shown.length);
    const matches = patternOf(this.wanted) === undefined ? undefined : new Set(this.matches?.steps);
    const rows = this.shown.slice(first, end).map((number, index) => {
      const step = data.steps[number - 1];
      if (!step) return "";
      const found = matches ? matches.has(number) : this.wanted !== "" && search([step], this.wanted, 0, 1) > 0;
      return rowOf(step, first + index, this.layout, data.loopStart, number === this.selected, found, this.actions.inEditor);
    });
    this.canvas.replaceChildren(drawLanes(this.chart, this.layout, data, this.shown, first, end), ...rows);
    this.steps.setAttribute("aria-activedescendant", `step-${this.selected}`);
  }

  private intoView(): void {
    const index = this.shown.indexOf(this.selected);
    if (index < 0) return;
    const top = index * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.steps;
    const room = clientHeight - this.layout.head - ROW_HEIGHT;
    if (top < scrollTop) this.steps.scrollTop = top;
    else if (top > scrollTop + room) this.steps.scrollTop = top - room;
  }

  private clicked(event: MouseEvent, run: (step: number) => void): void {
    const row = event.target instanceof Element ? event.target.closest(".row") : null;
    const step = Number(row?.getAttribute("data-step") ?? 0);
    if (step > 0) run(step);
  }

  private next(direction: 1 | -1): void {
    const pattern = patternOf(this.wanted);
    if (pattern !== undefined) {
      if (this.matches?.pattern === pattern) this.toMatch(this.selected, direction);
      else if (pattern !== "" && this.actions.inEditor) this.actions.findMatches(pattern);
      else if (pattern !== "") this.told.textContent = "patterns are looked for in the editor only";
      return;
    }
    const visible = this.visible();
    const index = visible.findIndex((step) => step.step === this.selected);
    const found = search(visible, this.wanted, index + 1, direction);
    if (found > 0) this.pick(found);
  }

  private move(by: number): void {
    const index = this.shown.indexOf(this.selected);
    const to = index < 0 ? (by > 0 ? 0 : -1) : index + by;
    this.pick(to < 0 ? 0 : (this.shown[Math.min(to, this.shown.length - 1)] ?? 0));
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.steps.clientHeight / ROW_HEIGHT) - 2);
    const last = this.data?.steps.length ?? 0;
    const loop = this.data?.loopStart ?? 0;
    const keys: Record<string, () => void> = {
      ArrowDown: () => { this.move(1); },
      j: () => { this.move(1); },
      ArrowUp: () => { this.move(-1); },
      k: () => { this.move(-1); },
      PageDown: () => { this.move(page); },
      PageUp: () => { this.move(-page); },
      Home: () => { this.pick(0); },
      End: () => { this.pick(last); },
      "[": () => { if (loop > 0) this.pick(loop); },
      "]": () => { if (loop > 0) this.pick(last); },
      // Once around the loop: from the last step back to the first.
      o: () => { if (loop > 0) this.pick(this.selected >= loop && this.selected < last ? this.selected + 1 : loop); },
      "/": () => { this.box.focus(); },
      n: () => { this.next(1); },
      N: () => { this.next(-1); },
      Enter: () => { this.actions.open(this.selected); },
    };
    const run = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  }

  private keys(): HTMLElement {
    const loop = this.data?.loopStart ? [el("kbd", {}, "["), " ", el("kbd", {}, "]"), " loop  ", el("kbd", {}, "o"), " around  "] : [];
    const open = this.actions.inEditor ? [el("kbd", {}, "Enter"), " to the code"] : [];
    return el("footer", {}, el("kbd", {}, "↑"), " ", el("kbd", {}, "↓"), " step  ", ...loop, el("kbd", {}, "/"), " search  ", el("kbd", {}, "n"), " next  ", ...open);
  }
}
