import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf, titleOf, zoomed } from "../../src/pure/graph";

test("an element of a drawing stands for lines", () => {
  assert.deepEqual(linesOf("3 17"), [3, 17]);
  for (const nothing of [null, "", "x", "0", "-1"]) assert.deepEqual(linesOf(nothing), []);
});

test("a drawing stays readable however often it is made smaller or larger", () => {
  assert.equal(zoomed(zoomed(1, 1), -1), 1);
  let [small, large] = [1, 1];
  for (let i = 0; i < 100; i++) [small, large] = [zoomed(small, -1), zoomed(large, 1)];
  assert.deepEqual([small, large], [0.2, 5]);
});

test("a panel says what it shows", () => {
  const titles = [{ automata: true }, { automata: false }, { by: "locations", automata: false }, { by: "x,q", automata: false }];
  assert.deepEqual(titles.map(titleOf), ["Automata", "States", "States by Places", "States by x,q"]);
});
