// Causes of violations, in the words of a list to choose from.

import type { CauseFound } from "../protocol";

/** This many statements are told of a cause. */
const STATEMENTS_MAX = 12;

/** A cause: what goes wrong, and the statements that not all causes have; if all have them, all its statements. */
export function causeItem(cause: CauseFound, index: number): { label: string; description: string; detail: string } {
  const special = cause.statements.filter((one) => !one.shared);
  const told = special.length > 0 ? special : cause.statements;
  const words = told.slice(0, STATEMENTS_MAX).map((one) => `line ${one.line} ${one.statement}`);
  const more = told.length > STATEMENTS_MAX ? [`${told.length - STATEMENTS_MAX} more`] : [];
  return {
    label: `${index + 1}: ${cause.sentence}`,
    description: cause.minimal ? "" : "some statements may not be needed",
    detail: [...words, ...more].join(" · "),
  };
}
