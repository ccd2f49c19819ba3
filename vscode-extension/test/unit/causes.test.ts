import { strict as assert } from "node:assert";
import { test } from "node:test";
import { causeItem } from "../../src/pure/causes";

const statement = (line: number, shared: boolean) => ({ line, process: "P", statement: `x = ${line}`, shared });

test("a cause is told by the statements that not all causes have", () => {
  const cause = { sentence: "deadlock at line 3, after 2 steps", minimal: true, run: "cause 1 of safety", statements: [statement(1, true), statement(2, false)] };
  assert.deepEqual(causeItem(cause, 0), { label: "1: deadlock at line 3, after 2 steps", description: "", detail: "line 2 x = 2" });
  const only = { ...cause, minimal: false, statements: [statement(1, true)] };
  assert.deepEqual(causeItem(only, 1), { label: "2: deadlock at line 3, after 2 steps", description: "some statements may not be needed", detail: "line 1 x = 1" });
});

test("of many statements some are told", () => {
  const statements = Array.from({ length: 15 }, (_, at) => statement(at + 1, false));
  const { detail } = causeItem({ sentence: "s", minimal: true, run: "r", statements }, 0);
  assert.match(detail, /^line 1 x = 1 · .* · line 12 x = 12 · 3 more$/);
});
