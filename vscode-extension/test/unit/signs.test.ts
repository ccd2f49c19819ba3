import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Lines, Mark, PropertyStatus, State, Status } from "../../src/protocol";
import { signs } from "../../src/pure/signs";

function property(name: string, state: State, exhaustive = true): PropertyStatus {
  return { name, kind: null, state, verdict: null, exhaustive, stale: state === "stale", fairness: "none", cached: null, summary: null, short: null, states: null, bound: null, counterexamples: 0, avoidable: null, replay: null, expected: null, range: null };
}

const status = (properties: PropertyStatus[], more: Partial<Status> = {}): Status => ({ uri: "file:///m.pml", version: 1, serial: 1, running: null, waiting: [], faulty: null, properties, survey: null, surveying: false, leaveOut: null, maxDepth: null, visitFirst: null, ...more });
const at = (property: string, assertion = false): Mark => ({ kind: "property", property, assertion });
const fails = (stale = false): Mark => ({ kind: "fails", step: 3, property: "safety", counterexample: 0, stale });
const lines = (...marks: Mark[][]): Lines => ({ uri: "file:///m.pml", version: 1, lines: marks.map((marks, line) => ({ line, marks })), coverage: null, notExecuted: null });

test("a line has the sign of its property", () => {
  const states: [State, boolean, string | undefined][] = [
    ["holds", true, "holds"],
    ["holds", false, "undecided"],
    ["violated", true, "violated"],
    ["undecided", false, "undecided"],
    ["stale", false, "stale"],
    ["unknown", false, undefined],
    ["faulty", false, undefined],
  ];
  for (const [state, exhaustive, sign] of states) {
    assert.equal(signs(lines([at("p")]), status([property("p", state, exhaustive)])).get(0), sign, state);
  }
  assert.equal(signs(lines([at("elsewhere")]), status([property("p", "holds")])).size, 0);
});

test("what is being checked and what waits has a sign of its own, and says nothing of what was", () => {
  const running = { property: "p", tier: "deep", bound: null, progress: null, ahead: null } as const;
  const properties = [property("p", "running"), property("q", "stale"), property("r", "holds")];
  const now = signs(lines([at("p")], [at("q")], [at("r")], [at("p"), at("q")]), status(properties, { running, waiting: [{ property: "q", tier: "deep", progress: null }] }));
  assert.deepEqual([...now], [[0, "checking"], [1, "waiting"], [2, "holds"], [3, "checking"]]);
  const later = status(properties, { running: { ...running, ahead: 1 } });
  assert.equal(signs(lines([at("p")]), later).get(0), "waiting");
});

test("of several assertions only the one that a run fails is said to fail", () => {
  const failing = status([property("safety", "violated")]);
  const now = signs(lines([at("safety", true), fails()], [at("safety", true)], [at("safety", true), fails(true)], [at("safety")]), failing);
  assert.deepEqual([...now], [[0, "violated"], [3, "violated"]]);
  const proved = signs(lines([at("safety", true)], [at("safety", true)]), status([property("safety", "holds")]));
  assert.deepEqual([...proved.values()], ["holds", "holds"]);
});
