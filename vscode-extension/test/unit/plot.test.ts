import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isShown, valueAfter } from "../../src/pure/picture";
import { curveOf, PLOT_HEIGHT, PLOT_WIDTH, plotValue, rangeOf } from "../../src/pure/plot";

const plot = { name: "x", of_messages: false, points: [{ step: 0, value: 0 }, { step: 1, value: 4 }, { step: 3, value: 2 }] };

test("a curve goes from value to value at the steps that change it", () => {
  assert.deepEqual(rangeOf(plot), [0, 4]);
  assert.deepEqual([0, 1, 2, 3, 4].map((step) => plotValue(plot, step)), [0, 4, 4, 2, 2]);
  const x = (step: number): number => (step * PLOT_WIDTH) / 4;
  assert.equal(curveOf(plot, 4), `M0 ${PLOT_HEIGHT}H${x(1)}V0H${x(3)}V${PLOT_HEIGHT / 2}H${x(4)}`);
});

test("a binding has the value of the last change", () => {
  const values = [{ step: 0, value: "0" }, { step: 2, value: null }];
  const binding = { element: 0, attribute: "shown", expression: "x", values };
  assert.deepEqual([0, 1, 2, 5].map((step) => valueAfter(binding, step)), ["0", "0", null, null]);
  assert.deepEqual([null, "0", "false", "1", "true"].map(isShown), [false, false, false, true, true]);
});
