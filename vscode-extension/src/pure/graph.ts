// What the graph panel computes, without an editor.

/** A graph is drawn at least and at most this many times as large as it is. */
const SCALES: [number, number] = [0.2, 5];

/** The lines that an element of a drawing stands for, from 1. */
export function linesOf(attribute: string | null): number[] {
  return (attribute ?? "").split(" ").filter((word) => /^[1-9][0-9]*$/.test(word)).map(Number);
}

/** A step larger or smaller. */
export function zoomed(scale: number, step: number): number {
  const [least, most] = SCALES;
  return Math.min(most, Math.max(least, scale * 1.25 ** step));
}

/** What is drawn of a model. */
export interface Drawn {
  /** By what states are put together: `locations`, or names of variables. */
  by?: string;
  automata: boolean;
}

/** What is drawn, in a few words. */
export function titleOf({ by, automata }: Drawn): string {
  if (automata) return "Automata";
  if (by === undefined) return "States";
  return by === "locations" ? "States by Places" : `States by ${by}`;
}
