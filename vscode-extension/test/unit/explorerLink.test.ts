import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { ExplorerLink, shownOf, type Shown } from "../../src/pure/explorerLink";

test("only lines that an explorer writes say where it is", () => {
  assert.deepEqual(shownOf('{"line":12,"step":5,"run":true}'), { line: 12, step: 5, run: true });
  for (const line of ["", "x", "null", "[1]", '{"line":1,"step":"2","run":true}', '{"line":1,"step":2}']) {
    assert.equal(shownOf(line), undefined, line);
  }
});

test("an explorer and an editor show each other where they are, and nobody is sent back", { skip: process.platform === "win32" }, async () => {
  const moves: Shown[] = [];
  let heard: (() => void) | undefined;
  const link = await ExplorerLink.open((shown) => {
    moves.push(shown);
    heard?.();
  });
  assert.ok(link);
  const explorer = connect(link.socket);
  const said: string[] = [];
  const lines = createInterface({ input: explorer });
  const told = (count: number): Promise<void> =>
    new Promise((resolve) => {
      lines.on("line", (line) => {
        if (said.push(line) === count) resolve();
      });
    });
  const moved = new Promise<void>((resolve) => { heard = resolve; });
  explorer.write('no JSON\n{"line":3,"step":7,"run":true}\n');
  await moved;
  assert.deepEqual(moves, [{ line: 3, step: 7, run: true }]);
  const step8 = told(1);
  // It is there already.
  link.show(7);
  link.show(8);
  await step8;
  assert.deepEqual(said, ['{"step":8}']);
  explorer.destroy();
  await link.dispose();
  assert.ok(!existsSync(link.socket));
});
