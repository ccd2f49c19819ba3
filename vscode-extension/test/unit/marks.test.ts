import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Lines, Mark } from "../../src/protocol";
import { grouped } from "../../src/pure/words";
import { endings, notExecutedHover } from "../../src/pure/marks";

const lines = (...all: [number, Mark[]][]): Lines => ({ uri: "file:///m.pml", version: 1, lines: all.map(([line, marks]) => ({ line, marks })), coverage: null, notExecuted: null });
const loop = (step: number, property = "p", stale = false): Mark => ({ kind: "loop", step, property, counterexample: 0, stale });

test("a loop is shown by the numbers of its steps", () => {
  const [ending] = endings(lines([3, [{ kind: "step", step: 1, property: "p", counterexample: 0, stale: false }, loop(2), loop(5)]]));
  assert.deepEqual([ending?.line, ending?.kind, ending?.text, ending?.stale], [3, "loop", "⟳ 2, 5", false]);
});

test("long lists are cut, and properties are told apart", () => {
  const [many] = endings(lines([0, [1, 2, 3, 4, 5].map((step) => loop(step))]));
  assert.equal(many?.text, "⟳ 1, 2, 3, 4, …");
  assert.ok(many.hover.includes("1, 2, 3, 4, 5"));
  const [two] = endings(lines([0, [loop(1), loop(2, "q")]]));
  assert.equal(two?.text, "⟳ 1 (p) 2 (q)");
});

test("who is stuck is said once", () => {
  const stuck = (process: string): Mark => ({ kind: "stuck", process, why: "q is empty", stale: true });
  const [ending] = endings(lines([7, [stuck("A[0]"), stuck("A[0]"), stuck("B[1]")]]));
  assert.deepEqual([ending?.text, ending?.stale], ["⏸ A[0], B[1] stuck here", true]);
  assert.match(ending?.hover ?? "", /A\[0\]: q is empty/);
  assert.deepEqual(endings(lines([7, [{ kind: "unreached", why: null }]])), []);
});

test("of what was not executed so far it is said how much was searched", () => {
  const told = { states: 12_000, isSearching: false, ranges: [] };
  assert.equal(notExecutedHover(told), "Not executed so far: 12 000 states searched, the search was not complete.".replace("12 000", grouped(12_000)));
  assert.match(notExecutedHover({ ...told, states: 1, isSearching: true }), /: 1 state searched, .* may execute it\.$/);
});
