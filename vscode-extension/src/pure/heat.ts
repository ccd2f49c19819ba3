// How often statements are executed in the states that were looked at.

import type { Coverage } from "../protocol";
import { counted, grouped } from "./words";

/** From cold to hot. */
export const LEVELS = [1, 2, 3, 4] as const;
export type Level = (typeof LEVELS)[number];

export interface Heat {
  range: Coverage["statements"][number]["range"];
  level: Level;
  hover: string;
}

/** A share as a percentage of at most two digits. */
function percentage(part: number, whole: number): string {
  const share = (100 * part) / whole;
  if (share < 1) return "less than 1 %";
  if (99 < share && share < 100) return "more than 99 %";
  return `${Math.round(share)} %`;
}

/** The statements that some transition executes; a tenth as often as the hottest one is half as hot. */
export function heat({ states, transitions, exhaustive, statements }: Coverage): Heat[] {
  const most = Math.max(1, ...statements.map((one) => one.transitions));
  // Not each of the first states was looked at, where there are more.
  const within = exhaustive ? `of all ${counted(states, "state")}` : `in a search of the first ${counted(states, "state")}`;
  return statements.filter((one) => one.transitions > 0).map(({ range, transitions: count }) => {
    const level = LEVELS[Math.min(3, Math.round(3 * Math.sqrt(count / most)))] ?? 1;
    const share = `${grouped(count)} of ${counted(transitions, "transition")} (${percentage(count, transitions)})`;
    return { range, level, hover: `Executed in ${share} ${within}.` };
  });
}
