// How a number changes along a run, as the path of a curve.

import type { Plot } from "../protocol";

export const PLOT_HEIGHT = 30;
export const PLOT_WIDTH = 300;

export function rangeOf(plot: Plot): [number, number] {
  const values = plot.points.map((point) => point.value);
  return [Math.min(...values), Math.max(...values)];
}

/** Where a step is on the axis. */
export function plotX(step: number, steps: number): number {
  return (step * PLOT_WIDTH) / Math.max(steps, 1);
}

/** A curve that goes from value to value in steps. */
export function curveOf(plot: Plot, steps: number): string {
  const [smallest, largest] = rangeOf(plot);
  const y = (value: number): number => PLOT_HEIGHT * (1 - (value - smallest) / Math.max(largest - smallest, 1));
  const corners = plot.points.map(({ step, value }, index) => (index === 0 ? `M${plotX(step, steps)} ${y(value)}` : `H${plotX(step, steps)}V${y(value)}`));
  return `${corners.join("")}H${plotX(steps, steps)}`;
}

/** The value after a step. */
export function plotValue(plot: Plot, step: number): number | undefined {
  return plot.points.findLast((point) => point.step <= step)?.value;
}
