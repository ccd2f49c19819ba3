import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Branch, Counted } from "../../src/protocol";
import { descriptionOf, labelOf, laps, lookOf, messageOf } from "../../src/pure/executions";

const step = { step: 1, process: "P", pid: 0, file: "m.pml", line: 3, column: 5, text: "x = 1", changes: [] } as unknown as NonNullable<Branch["step"]>;
const branch = (more: Partial<Branch>): Branch => ({
  first: "1", executions: "4", failing: "0", stuck: "0", ok: "4", unopened: true, length: 1, sentence: "4 executions", step, ...more,
});

test("a branch looks like what is behind it", () => {
  assert.equal(lookOf(branch({})), "choice");
  assert.equal(lookOf(branch({ stuck: "12345678901234567890123" })), "bad choice");
  assert.equal(lookOf(branch({ ends: "well" })), "well");
  assert.equal(lookOf(branch({ ends: "well", failing: "1" })), "bad");
  assert.equal(lookOf(branch({ ends: "stuck", stuck: "1" })), "bad");
  assert.equal(lookOf(branch({ ends: "cut" })), "open");
});

test("a branch is named by its first step", () => {
  assert.equal(labelOf(branch({})), "P[0] x = 1");
  assert.equal(labelOf(branch({ step: null })), "no step");
  assert.equal(descriptionOf(branch({})), "line 3 · 4 executions");
  assert.equal(descriptionOf(branch({ ends: "well", length: 3, sentence: "#2 ends well" })), "line 3 · +2 steps · #2 ends well");
});

test("what was counted is marked once the text is newer", () => {
  const counted = { sentence: "15 executions: 1 gets stuck", advice: null } as Counted;
  assert.equal(messageOf(counted, false), "15 executions: 1 gets stuck.");
  assert.equal(messageOf(counted, true), "Before the last edits: 15 executions: 1 gets stuck.");
  const endless = { sentence: "infinitely many executions", advice: "Count some." } as Counted;
  assert.equal(messageOf(endless, false), "infinitely many executions. Count some.");
});

test("laps are a number", () => {
  assert.equal(laps(" 2 "), 2);
  for (const wrong of ["", "0", "-1", "1.5", "x", "1001"]) assert.equal(typeof laps(wrong), "string", wrong);
});
