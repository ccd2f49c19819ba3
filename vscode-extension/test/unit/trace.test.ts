import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type Change, CLAIM_PID, type Message, type Ribbon, type Step } from "../../src/protocol";
import { chart, onRing, windowOf } from "../../src/pure/chart";
import { embedded, page } from "../../src/pure/page";
import { laneName, layout } from "../../src/pure/layout";
import { columnAfter, flat, folded, isWanted, nextOf, patternOf, search, stepOnLine, stuckIn, type TraceData, valuesAfter } from "../../src/pure/trace";

let line = 0;
function step(number: number, pid: number, text: string, more: Partial<Step> = {}): Step {
  line += 1;
  const at = { line, character: 0 };
  return { step: number, pid, process: "P", file: "m.pml", line, column: 1, text, changes: [], uri: "file:///m.pml", range: { start: at, end: at }, ...more };
}
const change = (name: string, old: string, value: string): Change => ({ name, old, new: value, what: "variable" });
const message = (direction: Message["direction"], pid: number, fields: string, channel = "q"): Message => ({ direction, pid, channel, fields });

function trace(steps: Step[], more: Partial<TraceData> = {}): TraceData {
  return { model: "m.pml", uri: "file:///m.pml", property: "safety", counterexample: 0, kind: "assertion", message: "it fails", stale: false, steps, loopStart: null, start: [], births: {}, blocked: [], explanation: [], advice: null, ...more };
}

test("values follow the changes, and the last change is marked", () => {
  const steps = [step(1, 0, "x = 1", { changes: [change("x", "0", "1")] }), step(2, 0, "x = 2", { changes: [change("x", "1", "2")] })];
  const data = trace(steps, { start: [{ name: "x", value: "0" }, { name: "y", value: "7" }] });
  assert.deepEqual(valuesAfter(data, 0), [{ name: "x", value: "0" }, { name: "y", value: "7" }]);
  assert.deepEqual(valuesAfter(data, 1)[0], { name: "x", value: "1", old: "0" });
  assert.deepEqual(valuesAfter(data, 2), [{ name: "x", value: "2", old: "1" }, { name: "y", value: "7" }]);
});

test("processes bring their variables and take them away", () => {
  const steps = [step(1, 0, "run P()", { created: [1] }), step(2, 1, "skip"), step(3, 1, "(end)", { ended: true })];
  const data = trace(steps, { births: { 1: [{ name: "P[1]:n", value: "3" }] } });
  assert.deepEqual(valuesAfter(data, 0), []);
  assert.deepEqual(valuesAfter(data, 2), [{ name: "P[1]:n", value: "3" }]);
  assert.deepEqual(valuesAfter(data, 3), []);
});

test("a state becomes names and values", () => {
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  const process = (pid: number): Parameters<typeof flat>[0]["processes"][number] => ({ pid, name: `P[${pid}]`, location: "P 0", labels: [], end: false, statements: [], variables: [{ name: "n", value: "1" }], uri: null, range });
  const state = { step: 0, variables: [{ name: "x", value: "0" }], channels: [{ name: "q", value: "empty" }], processes: [process(0), process(1)] };
  assert.deepEqual(flat(state).map(({ name }) => name), ["x", "q", "P[0]:n", "P[1]:n"]);
  assert.deepEqual(flat(state, new Set([1])).map(({ name }) => name), ["P[1]:n"]);
});

test("a message goes from who sent it to who received it", () => {
  const steps = [
    step(1, 0, "q!1", { messages: [message("sent", 0, "1")] }),
    step(2, 0, "q!2", { messages: [message("sent", 0, "2")] }),
    step(3, 1, "q??2", { messages: [message("received", 1, "2")] }),
    step(4, 1, "q?1", { messages: [message("received", 1, "1")] }),
    step(5, 1, "q?9", { messages: [message("received", 1, "9")] }),
  ];
  const drawn = chart(steps);
  assert.deepEqual(drawn.lanes.map((lane) => lane.name), ["P[0]", "P[1]"]);
  assert.deepEqual(drawn.rows, [0, 0, 1, 1, 1]);
  assert.deepEqual(drawn.arrows.map(({ kind, from, to, label }) => [kind, from.row, to.row, label]), [["message", 1, 2, "q [2]"], ["message", 0, 3, "q [1]"]]);
});

test("a rendezvous is one step of two", () => {
  const partner = { process: "S", pid: 1, file: "m.pml", line: 9, column: 1, text: "q?1" };
  const drawn = chart([step(1, 0, "q!1", { partner, messages: [message("sent", 0, "1"), message("received", 1, "1")] })]);
  assert.deepEqual(drawn.arrows, [{ kind: "rendezvous", from: { row: 0, lane: 0 }, to: { row: 0, lane: 1 }, label: "q [1]" }]);
  assert.deepEqual(drawn.lanes.map((lane) => lane.name), ["P[0]", "S[1]"]);
});

test("a number that is used again is another lane", () => {
  const drawn = chart([step(1, 1, "a"), step(2, 1, "b", { process: "R" }), step(3, 1, "c")]);
  assert.deepEqual(drawn.lanes.map((lane) => lane.name), ["P[1]", "R[1]"]);
  assert.deepEqual(drawn.rows, [0, 1, 0]);
});

test("a creation is an arrow", () => {
  const drawn = chart([step(1, 0, "run P()", { created: [1] }), step(2, 1, "skip")]);
  assert.deepEqual(drawn.arrows.map(({ kind, from, to }) => [kind, from.lane, to.lane]), [["run", 0, 1]]);
});

test("a search goes around", () => {
  const steps = [step(1, 0, "x = 1"), step(2, 0, "y = 1"), step(3, 0, "x = 2")];
  assert.equal(search(steps, "x =", 1, 1), 3);
  assert.equal(search(steps, "x =", 3, 1), 1);
  assert.equal(search(steps, "Y", 0, 1), 2);
  assert.equal(search(steps, "x =", 1, -1), 3);
  assert.equal(search(steps, "nothing", 1, 1), 0);
  assert.equal(search([], "x", 0, 1), 0);
});

test("a line leads to its nearest step", () => {
  const at = { start: { line: 4, character: 0 }, end: { line: 4, character: 1 } };
  const steps = [step(1, 0, "a", { range: at }), step(2, 0, "b"), step(3, 0, "a", { range: at })];
  assert.equal(stepOnLine(steps, "file:///m.pml", 4, 0), 1);
  assert.equal(stepOnLine(steps, "file:///m.pml", 4, 3), 3);
  assert.equal(stepOnLine(steps, "file:///other.pml", 4, 3), 0);
});

test("only rows in sight are drawn", () => {
  assert.deepEqual(windowOf(0, 240, 24, 100_000), [0, 18]);
  assert.deepEqual(windowOf(24_000, 240, 24, 100_000), [992, 1018]);
  assert.deepEqual(windowOf(99_999 * 24, 240, 24, 100_000), [99_991, 100_000]);
  assert.deepEqual(windowOf(0, 240, 24, 0), [0, 0]);
});

test("a ring begins at the top and goes on clockwise", () => {
  const round = (n: number): number => Math.round(n) + 0;
  const points = [0, 1, 2, 3].map((index) => onRing(index, 4, 10)).map(({ x, y }) => [round(x), round(y)]);
  assert.deepEqual(points, [[0, -10], [10, 0], [0, 10], [-10, 0]]);
});

test("values are filtered by name", () => {
  assert.ok(isWanted("turn", ""));
  assert.ok(isWanted("Worker[0]:other", "turn, WORK"));
  assert.ok(!isWanted("critical", "turn other"));
});

test("a page needs nothing from elsewhere and runs nothing from within its data", () => {
  const evil = '</script><script>alert("1")</script><!--';
  const text = page("a < b", "n0", "run('</script>')", "b{}", trace([step(1, 0, evil)], { message: evil }));
  assert.equal(text.split("<script").length, 3);
  assert.ok(!text.includes("alert(\"1\")</script>"));
  assert.ok(text.includes("default-src 'none'"));
  assert.ok(!/(?:src|href)=/.test(text.replace(/default-src|script-src|style-src/g, "")));
  assert.ok(text.includes("<title>a &#60; b</title>"));
  const data = /id="data">(.*?)<\/script>/s.exec(text)?.[1] ?? "";
  assert.equal((JSON.parse(data) as TraceData).message, evil);
  assert.equal(embedded("\u2028"), '"\\u2028"');
});

test("only who cannot go on is stuck", () => {
  const standing = (pid: number, executable: boolean, end = false) => ({
    process: "P", pid, end, file: "m.pml", line: 1, column: 1, waiting: [{ text: "q?1", line: 1, executable, reason: "as the server says it" }],
  });
  const blocked = [standing(0, true), standing(1, false), standing(2, false, true)];
  assert.deepEqual(stuckIn(trace([], { blocked })).map(({ pid }) => pid), [1]);
  const loop = [step(1, 0, "x = 1"), step(2, 1, "q?1"), step(3, 0, "q!1")];
  assert.deepEqual(stuckIn(trace(loop, { blocked, loopStart: 2 })), [], "who moves in the loop is not stuck");
  assert.deepEqual(stuckIn(trace(loop, { blocked, loopStart: 3 })).map(({ pid }) => pid), [1]);
});

test("the moves of a claim are folded into the steps that follow", () => {
  const claim = (number: number, text: string): Step => step(number, CLAIM_PID, text, { process: "low" });
  const steps = folded([claim(1, "x < 3"), step(1, 0, "x = 1"), step(2, 0, "x = 3"), claim(3, "!(x < 3)")]);
  assert.deepEqual(steps.map(({ step, text, claim }) => [step, text, claim]), [[1, "x = 1", ["x < 3"]], [2, "x = 3", ["!(x < 3)"]]]);
  assert.deepEqual(folded([claim(1, "true")]), []);
});

test("what is said of a step stays in sight, and lanes give way", () => {
  for (const width of [320, 460, 700, 1300]) {
    for (const lanes of [1, 4, 40]) {
      const { said, lane } = layout(width, lanes);
      assert.ok(said >= width * 0.6 - 1 && said >= 190 && lane >= 26, `${width} px, ${lanes} lanes: ${said} and ${lane}`);
    }
  }
  assert.equal(layout(460, 4).width, 460);
  assert.ok(layout(460, 40).width > 460, "many lanes are scrolled");
  assert.ok(!layout(1300, 4).upright);
  assert.equal(laneName("Philosopher[12]", layout(460, 5)), "Philosop…[12]");
  assert.equal(laneName("P[0]", layout(460, 40)), "P[0]");
});

test("the column of a step is that of its position, behind a loop that before it", () => {
  const column = (first: number, last: number, inLoop = false): Ribbon["columns"][number] => ({ first, last, inLoop });
  const ribbon: Ribbon = { heading: "", sentence: null, positions: 6, loopPosition: 2, columns: [column(0, 1), column(2, 2, true), column(3, 5, true)], leftOut: null, rows: [], legend: [], remarks: [] };
  assert.deepEqual([0, 1, 2, 3, 5, 6].map((step) => columnAfter(ribbon, step)), [0, 0, 1, 2, 2, 1]);
  const cut: Ribbon = { ...ribbon, loopPosition: null, columns: [column(0, 1), column(5, 5)], leftOut: { before: 1, count: 2 } };
  assert.deepEqual([1, 3, 5, 6].map((step) => columnAfter(cut, step)), [0, -1, 1, -1]);
});

test("a search behind = asks for a pattern, and its matches are gone through around the end", () => {
  assert.deepEqual(["= x > 1", "  =x", "=", "x = 1"].map(patternOf), ["x > 1", "x", "", undefined]);
  assert.deepEqual([nextOf([0, 3, 7], 3, 1), nextOf([0, 3, 7], 7, 1), nextOf([0, 3, 7], -1, 1), nextOf([], 3, 1)], [7, 0, 0, undefined]);
  assert.deepEqual([nextOf([0, 3, 7], 3, -1), nextOf([0, 3, 7], 0, -1), nextOf([], 3, -1)], [0, 7, undefined]);
});
