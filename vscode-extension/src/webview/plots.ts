// How numbers change along the run, with the selected step; a click chooses another one.

import type { Plot } from "../protocol";
import { curveOf, PLOT_HEIGHT, PLOT_WIDTH, plotValue, plotX, rangeOf } from "../pure/plot";
import { el, svg } from "./dom";

export function plotsOf(plots: readonly Plot[], steps: number, step: number, choose: (step: number) => void): HTMLElement {
  const rows = plots.flatMap((plot) => {
    const [smallest, largest] = rangeOf(plot);
    const what = plot.of_messages ? " messages" : "";
    const name = el("p", {}, el("code", {}, `${plot.name} = ${plotValue(plot, step) ?? ""}`), el("span", { class: "range" }, ` ${smallest} to ${largest}${what}`));
    const now = plotX(step, steps);
    const picture = svg(
      "svg",
      { viewBox: `-2 -2 ${PLOT_WIDTH + 4} ${PLOT_HEIGHT + 4}`, preserveAspectRatio: "none", height: PLOT_HEIGHT + 4, role: "img", "aria-label": `${plot.name} over the steps` },
      svg("path", { class: "axis", d: `M0 ${PLOT_HEIGHT}H${PLOT_WIDTH}` }),
      svg("path", { class: "now", d: `M${now} 0V${PLOT_HEIGHT}` }),
      svg("path", { class: "curve", d: curveOf(plot, steps) }),
    );
    picture.addEventListener("click", (event) => {
      const { left, width } = picture.getBoundingClientRect();
      choose(Math.max(0, Math.min(steps, Math.round(((event.clientX - left) / width) * steps))));
    });
    return [name, picture as unknown as HTMLElement];
  });
  return el("section", { class: "plots" }, el("h2", {}, "Numbers over the steps"), ...rows);
}
