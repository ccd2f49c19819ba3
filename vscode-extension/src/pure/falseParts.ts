// Which parts of conditions keep processes from going on, and where.

import type { Range, Requests } from "../protocol";

export interface FalsePlace {
  uri: string;
  range: Range;
  process: string;
  sentence: string;
}

/** The parts that make conditions false at which processes wait that can do nothing at all. */
export function partsOf({ processes }: Requests["fabius/why"]["answer"]): FalsePlace[] {
  const blocked = processes.filter(({ statements }) => statements.length > 0 && !statements.some(({ executable }) => executable));
  const all = blocked.flatMap(({ name, statements }) =>
    statements.flatMap(({ parts }) =>
      parts.flatMap(({ uri, range, sentence }) => (uri !== null && range !== null ? [{ uri, range, process: name, sentence }] : [])),
    ),
  );
  // A false `provided` is the same at each statement.
  return [...new Map(all.map((place) => [JSON.stringify(place), place])).values()];
}

/** The length in UTF-16 of the first characters of a text. */
export function characters(text: string, count: number): number {
  return Array.from(text).slice(0, count).join("").length;
}
