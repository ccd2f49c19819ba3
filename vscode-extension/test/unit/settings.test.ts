import { strict as assert } from "node:assert";
import { test } from "node:test";
import { code, namesIn } from "../../src/pure/inlineNames";
import { compatible, explicitSettings } from "../../src/pure/settings";

test("only what somebody set goes to the server", () => {
  const set: Record<string, object> = {
    check: { globalValue: "change", workspaceValue: "never" },
    hints: { globalValue: false },
    defines: { defaultValue: [] },
  };
  assert.deepEqual(explicitSettings((key) => set[key]), { check: "never", hints: false });
});

test("versions fit but for the last number", () => {
  assert.ok(compatible("0.1.0", "0.1.7"));
  assert.ok(compatible("0.1.0", "0.1.0-dev"));
  assert.ok(!compatible("0.1.0", "0.2.0"));
  assert.ok(!compatible("0.1.0", undefined));
});

test("comments and strings keep their columns", () => {
  assert.equal(code('a /* b\nc */ d // e\n"f" g'), "a     \n     d     \n    g");
});

test("names with values are found once a line", () => {
  const lines = ["byte turn; /* x */", "again: turn = other + turn;", ":: wants[_pid] -> run P(n); goto again", "#define y z"];
  const found = namesIn(lines, 1).map(({ line, text, plain }) => [line, text, plain]);
  assert.deepEqual(found, [
    [1, "turn", true],
    [1, "other", true],
    [2, "wants[_pid]", false],
    [2, "n", true],
    [2, "again", true],
  ]);
});
