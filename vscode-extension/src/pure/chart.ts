// The message chart: a lane per process, a row per step, an arrow per message.

import type { Message, Step } from "../protocol";

export interface Lane {
  pid: number;
  name: string;
}

export interface Arrow {
  kind: "message" | "rendezvous" | "run";
  from: { row: number; lane: number };
  to: { row: number; lane: number };
  label: string;
}

export interface Chart {
  lanes: Lane[];
  /** Of each step, its lane. */
  rows: number[];
  arrows: Arrow[];
}

interface Sent {
  row: number;
  lane: number;
  fields: string;
}

export function chart(steps: readonly Step[]): Chart {
  const lanes: Lane[] = [];
  // Of a number that was used again, the process that has it now.
  const current = new Map<number, number>();
  const laneOf = (pid: number, process: string): number => {
    const known = current.get(pid);
    const name = `${process}[${pid}]`;
    if (known !== undefined && lanes[known]?.name === name) return known;
    const before = lanes.findIndex((lane) => lane.name === name);
    if (before < 0) lanes.push({ pid, name });
    const lane = before < 0 ? lanes.length - 1 : before;
    current.set(pid, lane);
    return lane;
  };
  const named = new Map<number, string>();
  for (const step of steps) {
    if (!named.has(step.pid)) named.set(step.pid, step.process);
    if (step.partner && !named.has(step.partner.pid)) named.set(step.partner.pid, step.partner.process);
  }
  [...named].sort(([a], [b]) => a - b).forEach(([pid, process]) => laneOf(pid, process));

  const arrows: Arrow[] = [];
  const sent = new Map<string, Sent[]>();
  const rows = steps.map((step, row) => {
    const lane = laneOf(step.pid, step.process);
    for (const pid of step.created ?? []) {
      const name = named.get(pid);
      if (name) arrows.push({ kind: "run", from: { row, lane }, to: { row, lane: laneOf(pid, name) }, label: "run" });
    }
    if (step.partner) {
      const message = step.messages?.find(({ direction }) => direction === "sent");
      const label = message ? `${message.channel} [${message.fields}]` : "";
      const to = { row, lane: laneOf(step.partner.pid, step.partner.process) };
      arrows.push({ kind: "rendezvous", from: { row, lane }, to, label });
    } else {
      for (const message of step.messages ?? []) {
        const arrow = follow(sent, message, { row, lane });
        if (arrow) arrows.push(arrow);
      }
    }
    return lane;
  });
  return { lanes, rows, arrows };
}

/** A message that was sent waits for the one who receives it. */
function follow(sent: Map<string, Sent[]>, message: Message, at: { row: number; lane: number }): Arrow | undefined {
  const waiting = sent.get(message.channel) ?? [];
  sent.set(message.channel, waiting);
  if (message.direction === "sent") {
    waiting.push({ ...at, fields: message.fields });
    return undefined;
  }
  const index = waiting.findIndex((one) => one.fields === message.fields);
  const from = index < 0 ? undefined : waiting.splice(index, 1)[0];
  return from && { kind: "message", from: { row: from.row, lane: from.lane }, to: at, label: `${message.channel} [${message.fields}]` };
}

/** A place on the ring of a loop: the first step at the top, on clockwise. */
export function onRing(index: number, count: number, radius: number): { x: number; y: number } {
  const angle = (index / Math.max(count, 1)) * 2 * Math.PI - Math.PI / 2;
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
}

/** The rows that a window shows, and some around it. */
export function windowOf(top: number, height: number, rowHeight: number, count: number, around = 8): [number, number] {
  const first = Math.max(0, Math.floor(top / rowHeight) - around);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + around);
  return [Math.min(first, count), Math.max(end, 0)];
}
