import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { sectionLine } from "../../src/pure/manual";
import type { Settings } from "../../src/messages";
import { compatible, explicitSettings, SERVER_SETTINGS, stepsOf } from "../../src/pure/settings";
import { pidOf } from "../../src/pure/threads";

test("only what somebody set goes to the server", () => {
  const set: Record<string, object> = {
    check: { globalValue: "change", workspaceValue: "never" },
    hints: { globalValue: false },
    defines: { defaultValue: [] },
  };
  assert.deepEqual(explicitSettings((key) => set[key]), { check: "never", hints: false });
});

test("a bound on depth is a number of steps, or none", () => {
  assert.deepEqual(["", " ", "1", " 500 "].map(stepsOf), [0, 0, 1, 500]);
  assert.deepEqual(["0", "-1", "1.5", "1e3", "two", "99999999999999999999"].map(stepsOf), Array(6).fill(undefined));
});

test("every setting that the server reads is sent, and can be made", async () => {
  // The compiler refuses this if the server reads one that is missing here.
  const read: Record<keyof Settings, true> = {
    check: true,
    quickMilliseconds: true,
    deepSeconds: true,
    batterySeconds: true,
    memoryMebibytes: true,
    hints: true,
    scheduler: true,
    fairness: true,
    defines: true,
    properties: true,
  };
  assert.deepEqual([...SERVER_SETTINGS].sort(), Object.keys(read).sort());
  const manifest = JSON.parse(await readFile("package.json", "utf8")) as { contributes: { configuration: { properties: object } } };
  for (const key of SERVER_SETTINGS) assert.ok(`fabius.${key}` in manifest.contributes.configuration.properties, key);
});

test("versions fit but for the last number", () => {
  assert.ok(compatible("0.1.0", "0.1.7"));
  assert.ok(compatible("0.1.0", "0.1.0-dev"));
  assert.ok(!compatible("0.1.0", "0.2.0"));
  assert.ok(!compatible("0.1.0", undefined));
});

test("a finding leads to its section", () => {
  const page = "# Findings\n\n## F0101 A comment\r\ntext\n## F0201 Something else\n";
  assert.equal(sectionLine(page, "F0201"), 5);
  assert.equal(sectionLine(page, "F0101"), 3);
  assert.equal(sectionLine(page, "F02"), 0);
});

test("a thread of the call stack is a process", () => {
  assert.equal(pidOf(3), 2);
  assert.equal(pidOf("file:///m.pml", { threadId: "thread:0a1b-22:1" }), 0);
  assert.equal(pidOf({ threadId: "thread:0a1b-22:3" }), 2);
  assert.equal(pidOf("thread:0a1b-22:0"), undefined);
  assert.equal(pidOf(undefined), undefined);
});
