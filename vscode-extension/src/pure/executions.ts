// Executions and the tree of their choices, in the words of the view.

import type { Branch, Counted } from "../protocol";

/** How a branch looks: what is behind it. */
export type Look = "choice" | "bad choice" | "well" | "bad" | "open";

export function lookOf(branch: Branch): Look {
  const some = (number: string): boolean => number !== "0";
  const bad = some(branch.failing) || some(branch.stuck);
  if (branch.ends === undefined) return bad ? "bad choice" : "choice";
  if (bad || branch.ends === "failed" || branch.ends === "stuck") return "bad";
  return branch.ends === "well" ? "well" : "open";
}

/** The step that distinguishes a branch from its alternatives. */
export function labelOf(branch: Branch): string {
  const { step } = branch;
  if (!step) return "no step";
  return `${step.process}[${step.pid}] ${step.text}`;
}

/** The line of that step, how many follow it without a choice, and what is behind the branch. */
export function descriptionOf(branch: Branch): string {
  const more = branch.length - 1;
  const steps = more > 0 && branch.ends !== undefined ? `+${more} ${more === 1 ? "step" : "steps"}` : "";
  return [branch.step ? `line ${branch.step.line}` : "", steps, branch.sentence].filter(Boolean).join(" · ");
}

/** What stands above the tree; `old`: the text is newer. */
export function messageOf(counted: Counted, old: boolean): string {
  const advice = counted.advice ? ` ${counted.advice}` : "";
  return `${old ? "Before the last edits: " : ""}${counted.sentence}.${advice}`;
}

/** A number of laps as somebody types it; a text says what is wrong with it. */
export function laps(text: string): number | string {
  const number = Number(text.trim());
  return Number.isInteger(number) && number >= 1 && number <= 1000 ? number : "A number from 1 to 1000.";
}
