// Where the formula holds: a row for each of its parts, a column for each step at which something changes. What the cells say is the server's.

import type { Ribbon } from "../protocol";
import { columnAfter } from "../pure/trace";
import { el } from "./dom";

export function ribbonTable(ribbon: Ribbon, choose: (step: number) => void): HTMLElement {
  const meaning = new Map(ribbon.legend.map((entry) => [entry.cell, entry]));
  const gap = (tag: "td" | "th", index: number): HTMLElement[] =>
    ribbon.leftOut?.before === index ? [el(tag, { title: `${ribbon.leftOut.count} columns left out` }, "…")] : [];
  const label = ({ first, last }: { first: number; last: number }): string => (first === last ? String(first) : `${first}–${last}`);
  const inLoop = (column: { inLoop: boolean } | undefined): string => (column?.inLoop ? " in-loop" : "");
  const head = el("tr", {}, el("th", { scope: "row" }, "after step"));
  ribbon.columns.forEach((column, index) => {
    const begins = ribbon.loopPosition === column.first ? el("span", { class: "loop-sign", title: "the loop begins here" }, "⟳ ") : "";
    const button = el("button", { type: "button", title: `Show the state after step ${column.first}` }, label(column));
    button.addEventListener("click", () => { choose(column.first); });
    head.append(...gap("th", index), el("th", { scope: "col", class: `column${inLoop(column)}`, "data-column": index }, begins, button));
  });
  const rows = ribbon.rows.map((row) => {
    const name = el("th", { scope: "row", title: row.text }, el("code", {}, `${"  ".repeat(row.depth)}${row.text}`));
    const line = el("tr", {}, name);
    row.cells.forEach((cell, index) => {
      const column = ribbon.columns[index];
      const title = `after step ${column ? label(column) : ""}: ${meaning.get(cell)?.meaning ?? cell}`;
      line.append(...gap("td", index), el("td", { class: `${cell}${inLoop(column)}`, "data-column": index, title }, meaning.get(cell)?.sign ?? cell));
    });
    return line;
  });
  const signs = ribbon.legend.map((entry) => `${entry.sign} ${entry.meaning}`);
  const loop = ribbon.columns.some((column) => column.inLoop) ? ["shaded: the loop"] : [];
  const says = ribbon.sentence ? [el("p", {}, `It says: ${ribbon.sentence}.`)] : [];
  const table = el("div", { class: "scroll", tabindex: 0 }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows)));
  const legend = el("p", { class: "legend" }, [...signs, ...loop, ...ribbon.remarks].join("; "));
  const heading = ribbon.heading.charAt(0).toUpperCase() + ribbon.heading.slice(1);
  return el("details", { class: "ribbon", open: true }, el("summary", {}, heading), ...says, table, legend);
}

/** Marks the column of the state after a step, and brings it into view. */
export function markColumn(root: HTMLElement, ribbon: Ribbon, step: number): void {
  const index = columnAfter(ribbon, step);
  root.querySelectorAll(".here").forEach((cell) => { cell.classList.remove("here"); });
  const cells = root.querySelectorAll<HTMLElement>(`[data-column="${index}"]`);
  cells.forEach((cell) => { cell.classList.add("here"); });
  const scroll = root.querySelector<HTMLElement>(".scroll");
  const cell = cells[0];
  const names = scroll?.querySelector("th")?.offsetWidth ?? 0;
  if (!scroll || !cell) return;
  if (cell.offsetLeft < scroll.scrollLeft + names) scroll.scrollLeft = cell.offsetLeft - names;
  else if (cell.offsetLeft + cell.offsetWidth > scroll.scrollLeft + scroll.clientWidth) {
    scroll.scrollLeft = cell.offsetLeft + cell.offsetWidth - scroll.clientWidth;
  }
}
