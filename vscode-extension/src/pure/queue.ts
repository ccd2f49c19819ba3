// Which property is being checked, and which wait: in words.

import type { Running, Status, Waiting } from "../protocol";
import { counted, grouped, listed, noErrorUpTo } from "./words";

/** What the check of a model does about a property. */
export type Turn =
  | { kind: "checked"; running: Running }
  /** Checks of other models come first. */
  | { kind: "held up"; running: Running; ahead: number }
  /** Other properties of the model come first; `position` counts from 1. */
  | { kind: "waiting"; waiting: Waiting; position: number };

export function turnOf({ running, waiting }: Pick<Status, "running" | "waiting">, property: string): Turn | undefined {
  if (running?.property === property) {
    return running.ahead === null ? { kind: "checked", running } : { kind: "held up", running, ahead: running.ahead };
  }
  const at = waiting.findIndex((one) => one.property === property);
  const found = waiting[at];
  return found && { kind: "waiting", waiting: found, position: at + 1 };
}

/** How long a search has gone on. */
function time(seconds: number): string {
  return seconds < 60 ? `${seconds.toFixed(seconds < 10 ? 1 : 0)} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** How far a search is. */
export function progressOf({ bound, progress }: Pick<Running, "bound" | "progress">): string {
  if (!progress) return noErrorUpTo(bound);
  const { states, depth, seconds } = progress;
  return listed(noErrorUpTo(bound), counted(states, "state"), `depth ${grouped(depth)}`, time(seconds));
}

/** What the check does about a property, in a line. */
export function turnInWords(turn: Turn): string {
  switch (turn.kind) {
    case "checked":
      return progressOf(turn.running) || "checking";
    case "held up":
      return turn.ahead === 0 ? "waits for a check of another model" : `waits, ${counted(turn.ahead, "check")} of other models before it`;
    case "waiting": {
      const { progress } = turn.waiting;
      const place = turn.position === 1 ? "next in the queue" : `number ${grouped(turn.position)} in the queue`;
      return listed(place, progress && `interrupted after ${counted(progress.states, "state")}`);
    }
  }
}

/** The check of a model, in a few words. */
export function queueOf({ running, waiting }: Pick<Status, "running" | "waiting">): string {
  if (!running) return "";
  const now = running.ahead === null ? "1 running" : turnInWords({ kind: "held up", running, ahead: running.ahead });
  return listed(now, waiting.length > 0 && `${grouped(waiting.length)} waiting`);
}
