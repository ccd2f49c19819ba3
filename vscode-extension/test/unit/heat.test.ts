import assert from "node:assert/strict";
import { test } from "node:test";
import { heat } from "../../src/pure/heat";
import { grouped } from "../../src/pure/words";

const range = (line: number): { start: { line: number; character: number }; end: { line: number; character: number } } => ({ start: { line, character: 0 }, end: { line, character: 5 } });
const statement = (line: number, transitions: number): { range: ReturnType<typeof range>; executed: boolean; transitions: number } => ({ range: range(line), executed: transitions > 0, transitions });

test("statements are as hot as they are executed often, and cold ones are not told", () => {
  const statements = [statement(0, 1), statement(1, 0), statement(2, 2_000), statement(3, 200), statement(4, 900)];
  const shown = heat({ states: 1_500, transitions: 4_000, exhaustive: true, statements });
  assert.deepEqual(shown.map(({ range: { start }, level }) => [start.line, level]), [[0, 1], [2, 4], [3, 2], [4, 3]]);
  assert.equal(shown[1]?.hover, `Executed in ${grouped(2_000)} of ${grouped(4_000)} transitions (50 %) of all ${grouped(1_500)} states.`);
  assert.match(shown[0]?.hover ?? "", /^Executed in 1 of .* \(less than 1 %\)/);
});

test("what was seen of some states is not said of all", () => {
  const shown = heat({ states: 50_000, transitions: 10, exhaustive: false, statements: [statement(0, 10)] });
  assert.match(shown[0]?.hover ?? "", /\(100 %\) in a search of the first /);
});

test("no statement was executed", () => {
  assert.deepEqual(heat({ states: 1, transitions: 0, exhaustive: true, statements: [statement(0, 0)] }), []);
});
