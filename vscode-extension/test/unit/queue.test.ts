import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Running, Status, Waiting } from "../../src/protocol";
import { progressOf, queueOf, turnInWords, turnOf } from "../../src/pure/queue";

const progress = { states: 12000, depth: 30, seconds: 75, transitions: 9, memory_bytes: 9 };
const running = (more: Partial<Running> = {}): Running => ({ property: "p", tier: "deep", bound: null, progress: null, ahead: null, ...more });
const waits = (property: string, more: Partial<Waiting> = {}): Waiting => ({ property, tier: "deep", progress: null, ...more });
const words = (status: Pick<Status, "running" | "waiting">, property: string): string | undefined => {
  const turn = turnOf(status, property);
  return turn && turnInWords(turn);
};

test("each property has its place in the queue", () => {
  const status = { running: running({ progress }), waiting: [waits("q", { progress }), waits("r")] };
  assert.equal(words(status, "p"), "12\u202f000 states, depth 30, 1 min 15 s");
  assert.equal(words(status, "q"), "next in the queue, interrupted after 12\u202f000 states");
  assert.equal(words(status, "r"), "number 2 in the queue");
  assert.equal(words(status, "s"), undefined);
  assert.equal(queueOf(status), "1 running, 2 waiting");
  assert.equal(queueOf({ running: null, waiting: [] }), "");
});

test("a check that waits for other models does not run", () => {
  const status = { running: running({ ahead: 2 }), waiting: [waits("q")] };
  assert.equal(turnOf(status, "p")?.kind, "held up");
  assert.equal(words(status, "p"), "waits, 2 checks of other models before it");
  assert.equal(words({ ...status, running: running({ ahead: 0 }) }, "p"), "waits for a check of another model");
  assert.equal(queueOf(status), "waits, 2 checks of other models before it, 1 waiting");
});

test("how far a search is says nothing that is not known", () => {
  assert.equal(progressOf(running()), "");
  assert.equal(progressOf(running({ bound: 2 })), "no error up to 2 delays");
  assert.equal(words({ running: running(), waiting: [] }, "p"), "checking");
  assert.equal(progressOf(running({ progress: { ...progress, seconds: 4.25 } })), "12\u202f000 states, depth 30, 4.3 s");
});
