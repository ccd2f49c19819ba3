import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { PropertyStatus, State, Status } from "../../src/protocol";
import { grouped, judge, settled, short, sign, statusLine, worstOf } from "../../src/pure/words";

function property(name: string, state: State, more: Partial<PropertyStatus> = {}): PropertyStatus {
  const verdict = state === "holds" || state === "violated" || state === "undecided" || state === "faulty" ? state : null;
  const exhaustive = state === "holds";
  return { name, kind: null, state, verdict, exhaustive, stale: state === "stale", fairness: "none", cached: null, summary: null, short: null, states: null, bound: null, counterexamples: 0, avoidable: null, replay: null, expected: null, range: null, ...more };
}

const status = (properties: PropertyStatus[], running: Status["running"] = null): Status => ({ uri: "file:///m.pml", version: 1, serial: 1, running, waiting: [], faulty: null, properties, survey: null, surveying: false, leaveOut: null, maxDepth: null, visitFirst: null });

test("thousands are apart", () => {
  assert.equal(grouped(7), "7");
  assert.equal(grouped(41208), "41\u202f208");
  assert.equal(grouped(1234567), "1\u202f234\u202f567");
});

test("the line says what is known and what goes on", () => {
  const running = { property: "progress", tier: "deep", bound: null, progress: { states: 1200, depth: 3, seconds: 1, transitions: 9, memory_bytes: 9 }, ahead: null } as const;
  const line = statusLine(status([property("safety", "holds", { states: 41208 }), property("progress", "running")], running));
  assert.equal(line, "⟳ progress, 1\u202f200 states · ✓ 1");
  assert.equal(statusLine(status([])), "– nothing to check");
});

test("what is known by delays is said while the search goes on, and where it had to end", () => {
  const running = { property: "safety", tier: "delay-deepening", bound: 2, progress: { states: 1200, depth: 3, seconds: 1, transitions: 9, memory_bytes: 9 }, ahead: null } as const;
  assert.equal(short(property("safety", "running"), running), "safety, no error up to 2 delays, 1\u202f200 states");
  const ended = property("safety", "undecided", { bound: 1, states: 5 });
  assert.equal(short(ended, null), "safety, undecided, no error up to 1 delay, 5 states");
});

test("many properties are counted, and the worst is named", () => {
  const many = ["a", "b", "c"].map((name) => property(name, "holds")).concat(property("d", "violated"));
  assert.equal(statusLine(status(many)), "✗ d fails · ✓ 3");
  assert.equal(statusLine(status(many.slice(0, 3))), "✓ 3 properties, exhaustive");
});

test("the line of the status bar is short, whatever is in the model", () => {
  const states: State[] = ["unknown", "running", "stale", "holds", "violated", "undecided", "faulty"];
  const running = { property: "p".repeat(80), tier: "deep", bound: 12, progress: { states: 123456789, depth: 3, seconds: 1, transitions: 9, memory_bytes: 9 }, ahead: null } as const;
  for (const state of states) {
    const told = { states: 123456789, bound: 12, replay: "still fails (12 steps)", exhaustive: false };
    const one = property("p".repeat(80), state, told);
    assert.ok(statusLine(status([one], running)).length <= 48, statusLine(status([one], running)));
    const all = [one, ...states.map((other, index) => property(`q${index}`, other))];
    assert.ok(statusLine(status(all, running)).length <= 72, statusLine(status(all, running)));
  }
});

test("nothing looks like success that is not a proof", () => {
  assert.equal(sign(property("p", "holds", { exhaustive: false })), "○");
  assert.equal(sign(property("p", "stale", { verdict: "holds" })), "…");
  assert.equal(judge(property("p", "holds", { exhaustive: false })).outcome, "skipped");
  assert.equal(judge(property("p", "undecided")).outcome, "skipped");
  assert.equal(judge(property("p", "unknown")).outcome, "errored");
  assert.equal(judge(property("p", "faulty")).outcome, "errored");
});

test("a verdict that is expected passes, and its opposite fails", () => {
  assert.equal(judge(property("p", "violated")).outcome, "failed");
  assert.equal(judge(property("p", "violated", { expected: "violated" })).outcome, "passed");
  assert.equal(judge(property("p", "holds", { expected: "violated" })).outcome, "failed");
  assert.equal(judge(property("p", "holds")).outcome, "passed");
  assert.equal(judge(property("p", "undecided", { expected: "undecided" })).outcome, "passed");
  assert.match(judge(property("p", "holds", { expected: "violated" })).message, /violated was expected/);
});

test("a check is over when nothing can change by itself", () => {
  const going = { property: "q", tier: "deep", bound: null, progress: null, ahead: null } as const;
  const all = [property("p", "holds"), property("q", "running"), property("r", "undecided"), property("s", "violated")];
  assert.ok(settled(status(all, going), "p"));
  assert.ok(!settled(status(all, going), "q"));
  assert.ok(!settled(status(all, going), "r"), "the deep search may still decide it");
  assert.ok(settled(status(all, going), "s"));
  assert.ok(settled(status(all), "r"));
  assert.ok(settled(status(all, going), "gone"));
});

test("a violation comes before everything else", () => {
  const all = [property("a", "holds"), property("b", "undecided"), property("c", "violated")];
  assert.equal(worstOf(all)?.name, "c");
  assert.equal(worstOf([]), undefined);
});
