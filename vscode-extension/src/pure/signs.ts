// The sign of a line in the gutter: what is known about the properties that stand there, and what the check does about them.

import type { Lines, Status } from "../protocol";
import { turnOf } from "./queue";

export type Sign = "violated" | "checking" | "waiting" | "undecided" | "stale" | "holds";

/** The sign of several is the first of these. */
const ORDER: readonly Sign[] = ["violated", "checking", "waiting", "undecided", "stale", "holds"];

/** The sign of a property; nothing where nothing is known. */
function signOf(status: Status, name: string): Sign | undefined {
  const turn = turnOf(status, name);
  if (turn) return turn.kind === "checked" ? "checking" : "waiting";
  const property = status.properties.find((one) => one.name === name);
  switch (property?.state) {
    case "holds":
      return property.exhaustive ? "holds" : "undecided";
    case "violated":
    case "undecided":
    case "stale":
      return property.state;
    case undefined:
    case "running":
    case "unknown":
    case "faulty":
      return undefined;
  }
}

/**
 * The signs by line. Of the assertions of a model that fails, only those are known to fail at which a counterexample ends; nothing is said of
 * the others.
 */
export function signs(lines: Lines, status: Status): Map<number, Sign> {
  const found = new Map<number, Sign>();
  for (const { line, marks } of lines.lines) {
    const own = marks.flatMap((mark): Sign[] => {
      if (mark.kind !== "property") return [];
      const sign = signOf(status, mark.property);
      if (sign === undefined) return [];
      const fails = marks.some((other) => other.kind === "fails" && other.property === mark.property && !other.stale);
      return sign === "violated" && mark.assertion && !fails ? [] : [sign];
    });
    const shown = ORDER.find((sign) => own.includes(sign));
    if (shown) found.set(line, shown);
  }
  return found;
}
