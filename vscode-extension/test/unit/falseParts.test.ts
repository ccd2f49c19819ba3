import { strict as assert } from "node:assert";
import { test } from "node:test";
import { characters, partsOf } from "../../src/pure/falseParts";

const range = { start: { line: 3, character: 2 }, end: { line: 3, character: 7 } };
const part = (text: string, placed = true) => ({ text, holds: false, sentence: `\`${text}\` is false`, uri: placed ? "file:///m.pml" : null, range: placed ? range : null });
const statement = (executable: boolean, ...parts: ReturnType<typeof part>[]) => ({ statement: "a && b", why: "", executable, parts });
const process = (name: string, ...statements: ReturnType<typeof statement>[]) => ({ pid: 0, name, location: "P 1", labels: [], end: false, statements, variables: [] });

test("parts are those of processes that cannot move at all", () => {
  const why = {
    step: 1,
    processes: [
      process("P[0]", statement(false, part("a"), part("b")), statement(false)),
      process("P[1]", statement(false, part("c")), statement(true)),
      process("P[2]", statement(false, part("d", false))),
      process("P[3]"),
    ],
  };
  assert.deepEqual(partsOf(why).map(({ process, sentence }) => `${process} ${sentence}`), ["P[0] `a` is false", "P[0] `b` is false"]);
});

test("characters are counted as an editor counts them", () => {
  assert.equal(characters("ab c", 2), 2);
  assert.equal(characters("\u{1F600} && b", 2), 3);
});
