// What is shown about verdicts, in words. Nothing like success is shown without every state seen.

import type { PropertyStatus, Running, Status } from "../protocol";

const NARROW_SPACE = "\u202f";

/** 41208 as `41 208`. */
export function grouped(n: number): string {
  return Math.trunc(n).toString().replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE);
}

export function counted(n: number, word: string, several = `${word}s`): string {
  return `${grouped(n)} ${n === 1 ? word : several}`;
}

/** The sign of a property; `✓` only for a verdict that rests on every state of the present text. */
export function sign(property: PropertyStatus): string {
  switch (property.state) {
    case "running":
      return "⟳";
    case "holds":
      return property.exhaustive ? "✓" : "○";
    case "violated":
    case "faulty":
      return "✗";
    case "undecided":
      return "?";
    case "stale":
      return "…";
    case "unknown":
      return "–";
  }
}

/** What a search in the order of delays has found out so far; nothing if there is none. */
export function noErrorUpTo(bound: number | null | undefined): string {
  return bound === null || bound === undefined ? "" : `no error up to ${counted(bound, "delay")}`;
}

/** What is there of some parts of a sentence. */
export function listed(...parts: (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(", ");
}

/** What is known about a property, shortly. */
export function short(property: PropertyStatus, running: Running | null): string {
  const { name, state } = property;
  if (state === "running") {
    const own = running?.property === name ? running : null;
    return listed(name, noErrorUpTo(own?.bound), own?.progress && counted(own.progress.states, "state"));
  }
  const states = property.states !== null && counted(property.states, "state");
  switch (state) {
    case "holds":
      return listed(name, property.exhaustive ? "exhaustive" : "not a proof", states);
    case "violated":
      return `${name} fails`;
    case "undecided":
      return listed(name, "undecided", noErrorUpTo(property.bound), states);
    case "stale":
      return listed(name, property.replay ?? "edited since");
    case "faulty":
      return listed(name, "not checked");
    case "unknown":
      return name;
  }
}

const NAME_MAX = 24;

/** What the status bar says about one property: a few words. */
function brief(property: PropertyStatus, running: Running | null): string {
  const name = property.name.length > NAME_MAX ? `${property.name.slice(0, NAME_MAX - 1)}…` : property.name;
  const own = running?.property === property.name ? running : null;
  switch (property.state) {
    case "holds":
      return listed(name, property.exhaustive ? "exhaustive" : "not a proof");
    case "violated":
      return `${name} fails`;
    case "running":
      return listed(name, own?.progress && counted(own.progress.states, "state"));
    case "undecided":
      return listed(name, "undecided");
    case "stale":
      return listed(name, "edited since");
    case "faulty":
      return listed(name, "not checked");
    case "unknown":
      return name;
  }
}

/** The line of the status bar, a short one: the property to look at first, and how many others there are. `✗ progress fails · ✓ 2` */
export function statusLine(status: Status): string {
  const { properties, running } = status;
  const worst = worstOf(properties);
  if (!worst) return "– nothing to check";
  if (properties.length > 1 && properties.every((property) => property.state === "holds" && property.exhaustive)) {
    return `✓ ${counted(properties.length, "property", "properties")}, exhaustive`;
  }
  const others = new Map<string, number>();
  for (const property of properties) if (property !== worst) others.set(sign(property), (others.get(sign(property)) ?? 0) + 1);
  const rest = [...others].map(([mark, n]) => `${mark} ${n}`).join(" ");
  return `${sign(worst)} ${brief(worst, running)}${rest && ` · ${rest}`}`;
}

const ORDER = ["violated", "faulty", "running", "undecided", "stale", "unknown", "holds"] as const;

/** The property that a person should look at first. */
export function worstOf(properties: readonly PropertyStatus[]): PropertyStatus | undefined {
  for (const state of ORDER) {
    const found = properties.find((property) => property.state === state);
    if (found) return found;
  }
  return undefined;
}

/** Whether a property is done with: nothing about it will change before somebody edits or asks. */
export function settled(status: Status, name: string): boolean {
  const property = status.properties.find((candidate) => candidate.name === name);
  if (!property || status.running === null) return true;
  if (property.state === "running" || property.state === "stale" || property.state === "unknown") return false;
  return property.state === "violated" || (property.state === "holds" && property.exhaustive);
}

export type Judgement = { outcome: "passed" | "failed" | "skipped" | "errored"; message: string };

/**
 * A verdict as the outcome of a test. What is expected may be a violation. What was not searched to the end, for whatever
 * reason, neither passed nor failed; a model that cannot be checked is an error.
 */
export function judge(property: PropertyStatus): Judgement {
  const summary = property.summary ?? "nothing is known about it";
  const { expected, state } = property;
  if (state === "violated" || state === "holds") {
    if (!expected && state === "holds" && !property.exhaustive) return { outcome: "skipped", message: summary };
    if ((expected ?? "holds") === state) return { outcome: "passed", message: summary };
    const wish = expected ? ` (${expected} was expected)` : "";
    return { outcome: "failed", message: `${summary}${wish}` };
  }
  if (expected === state) return { outcome: "passed", message: summary };
  return { outcome: state === "undecided" ? "skipped" : "errored", message: summary };
}
