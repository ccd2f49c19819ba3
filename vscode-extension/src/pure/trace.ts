// A counterexample as the trace panel knows it: everything, so that nothing has to be asked for again.

import { CLAIM_PID, type MovingPicture, type Named, type Plot, type Ribbon, type Standing, type StateAfter, type Step } from "../protocol";

export interface TraceData {
  /** The model, as a person would name it. */
  model: string;
  uri: string;
  property: string;
  counterexample: number;
  kind: string;
  message: string;
  stale: boolean;
  steps: Step[];
  /** The first step of the loop, from 1. */
  loopStart: number | null;
  /** All values before the first step. */
  start: Named[];
  /** By step, the values of processes that it created. */
  births: Record<number, Named[]>;
  blocked: Standing[];
  explanation: string[];
  advice: string | null;
  /** Where the formula holds along the run; missing in pages that were exported before. */
  ribbon?: Ribbon | null;
  /** The drawing beside the model along the run, or why it cannot be shown; missing in pages that were exported before. */
  picture?: MovingPicture | null;
  pictureProblem?: string | null;
  /** How numbers change along the run; missing in pages that were exported before. */
  plots?: Plot[];
}

/**
 * The steps of the system. A claim moves between them; what it does is told with the step that follows, and what it does
 * after the last one with that.
 */
export function folded(steps: readonly Step[]): Step[] {
  const found: Step[] = [];
  let claim: string[] = [];
  for (const step of steps) {
    if (step.pid === CLAIM_PID) {
      claim.push(step.text);
      continue;
    }
    found.push(claim.length > 0 ? { ...step, claim } : step);
    claim = [];
  }
  const last = found.pop();
  if (last) found.push(claim.length > 0 ? { ...last, claim: [...(last.claim ?? []), ...claim] } : last);
  return found;
}

/** All values of a state by their full names: `turn`, `Worker[0]:other`, the contents of `q`. */
export function flat(state: StateAfter, only?: ReadonlySet<number>): Named[] {
  const own = state.processes
    .filter((process) => !only || only.has(process.pid))
    .flatMap((process) => process.variables.map(({ name, value }) => ({ name: `${process.name}:${name}`, value })));
  return only ? own : [...state.variables, ...state.channels, ...own];
}

export interface Value {
  name: string;
  value: string;
  /** The value before the step, if the step changed it. */
  old?: string;
}

/** All values after a step (0: before the first), in the order in which they came up. */
export function valuesAfter(data: TraceData, step: number): Value[] {
  const values = new Map(data.start.map(({ name, value }): [string, Value] => [name, { name, value }]));
  data.steps.slice(0, step).forEach((one, index) => {
    const last = index === step - 1;
    for (const { name, value } of data.births[one.step] ?? []) values.set(name, { name, value });
    for (const change of one.changes) {
      values.set(change.name, { name: change.name, value: change.new, ...(last ? { old: change.old } : {}) });
    }
    if (one.ended) {
      for (const name of values.keys()) if (name.startsWith(`${one.process}[${one.pid}]:`)) values.delete(name);
    }
  });
  return [...values.values()];
}

/** Whether a name is one that somebody asked for: words, separated by blanks or commas. */
export function isWanted(name: string, filter: string): boolean {
  const words = filter.toLowerCase().split(/[\s,]+/).filter(Boolean);
  return words.length === 0 || words.some((word) => name.toLowerCase().includes(word));
}

/** What a search looks through. */
export function textOf(step: Step): string {
  const messages = (step.messages ?? []).map((message) => `${message.channel} [${message.fields}]`);
  const changes = step.changes.map((change) => `${change.name} ${change.old} → ${change.new}`);
  const who = `${step.process}[${step.pid}]`;
  return [who, step.text, step.partner?.text, ...messages, ...changes, step.printed, step.fault].filter(Boolean).join(" ");
}

/** The next step from a step on that a search finds, around the end; 0 if there is none. */
export function search(steps: readonly Step[], wanted: string, from: number, direction: 1 | -1): number {
  const words = wanted.trim().toLowerCase();
  if (!words || steps.length === 0) return 0;
  for (let n = 1; n <= steps.length; n++) {
    const index = (((from - 1 + direction * n) % steps.length) + steps.length) % steps.length;
    const step = steps[index];
    if (step && textOf(step).toLowerCase().includes(words)) return step.step;
  }
  return 0;
}

/** The pattern over the past that a search asks about: what stands behind `=`. */
export function patternOf(wanted: string): string | undefined {
  const text = wanted.trim();
  return text.startsWith("=") ? text.slice(1).trim() : undefined;
}

/** The next number of a rising list from one on, around the end. */
export function nextOf(numbers: readonly number[], from: number, direction: 1 | -1): number | undefined {
  if (direction > 0) return numbers.find((number) => number > from) ?? numbers[0];
  return [...numbers].reverse().find((number) => number < from) ?? numbers.at(-1);
}

/** The step nearest to another one whose statement is on a line of a file. */
export function stepOnLine(steps: readonly Step[], uri: string, line: number, near: number): number {
  const there = steps.filter((step) => step.uri === uri && step.range?.start.line === line);
  const distance = (step: Step): number => Math.abs(step.step - near);
  return there.reduce<Step | undefined>((best, step) => (best && distance(best) <= distance(step) ? best : step), undefined)
    ?.step ?? 0;
}

/** The processes that cannot go on at the end of the run; who moves in its loop does go on. */
export function stuckIn(data: TraceData): Standing[] {
  const loop = data.loopStart === null ? [] : data.steps.slice(data.loopStart - 1);
  const moving = new Set(loop.flatMap((step) => [step.pid, step.partner?.pid]));
  const stuck = (process: Standing): boolean =>
    !moving.has(process.pid) && process.waiting.every((waiting) => !waiting.executable);
  return data.blocked.filter((process) => !process.end && stuck(process));
}

/** The column of the state after a step, -1 if it is left out; after the last step of a loop, the run is where the loop begins. */
export function columnAfter(ribbon: Ribbon, step: number): number {
  const position = step < ribbon.positions ? step : ribbon.loopPosition;
  return position === null ? -1 : ribbon.columns.findIndex(({ first, last }) => first <= position && position <= last);
}
