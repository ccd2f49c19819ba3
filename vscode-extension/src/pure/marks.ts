// What stands at the ends of lines: loops of counterexamples, and processes that are stuck.

import type { Lines, NotExecuted } from "../protocol";
import { counted } from "./words";

export interface Ending {
  line: number;
  kind: "loop" | "stuck";
  text: string;
  hover: string;
  stale: boolean;
}

const NUMBERS_MAX = 4;

/** Step numbers, the first few of them. */
function numbers(steps: number[]): string {
  const shown = steps.slice(0, NUMBERS_MAX).join(", ");
  return steps.length > NUMBERS_MAX ? `${shown}, …` : shown;
}

export function endings(lines: Lines): Ending[] {
  const found: Ending[] = [];
  const marked = lines.lines.flatMap(({ marks }) => marks);
  const several = new Set(marked.flatMap((mark) => (mark.kind === "loop" ? [mark.property] : []))).size > 1;
  for (const { line, marks } of lines.lines) {
    const loop = new Map<string, number[]>();
    const stuck: { process: string; why: string | null }[] = [];
    let stale = false;
    for (const mark of marks) {
      if (mark.kind === "loop") {
        loop.set(mark.property, [...(loop.get(mark.property) ?? []), mark.step]);
        stale ||= mark.stale;
      } else if (mark.kind === "stuck") {
        if (!stuck.some((other) => other.process === mark.process)) stuck.push(mark);
        stale ||= mark.stale;
      }
    }
    if (loop.size > 0) {
      const all = [...loop];
      const hover = all.map(([property, steps]) => {
        const word = steps.length === 1 ? "step" : "steps";
        return `In the loop of the counterexample to ${property}: ${word} ${steps.join(", ")}.`;
      });
      const text = all.map(([property, steps]) => numbers(steps) + (several ? ` (${property})` : "")).join(" ");
      found.push({ line, kind: "loop", text: `⟳ ${text}`, hover: hover.join("\n\n"), stale });
    }
    if (stuck.length > 0) {
      const who = stuck.map((one) => one.process).join(", ");
      const hover = stuck.map((one) => (one.why ? `${one.process}: ${one.why}` : `${one.process} is stuck here.`));
      found.push({ line, kind: "stuck", text: `⏸ ${who} stuck here`, hover: hover.join("\n\n"), stale });
    }
  }
  return found;
}

/** What is said of a statement that nothing executed so far: not more than that. */
export function notExecutedHover({ states, isSearching }: NotExecuted): string {
  const more = isSearching ? "; a search that goes on may execute it" : "";
  return `Not executed so far: ${counted(states, "state")} searched, the search was not complete${more}.`;
}
