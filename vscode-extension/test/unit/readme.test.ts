// What the README says: all commands and settings that a person can find, and the command that builds the extension.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

interface Manifest {
  scripts: { package?: string };
  contributes: {
    commands: { command: string; title: string }[];
    menus: { commandPalette: { command: string; when?: string }[] };
    configuration: { properties: Record<string, unknown> };
  };
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const readme = readFileSync("README.md", "utf8");

test("every command of the palette and every setting is in the README", () => {
  const { commands, menus, configuration } = manifest.contributes;
  const hidden = new Set(menus.commandPalette.filter((entry) => entry.when === "false").map((entry) => entry.command));
  const shown = commands.filter(({ command }) => !hidden.has(command));
  assert.ok(shown.length > 15);
  for (const { title } of shown) {
    assert.ok(readme.includes(title), title);
  }
  for (const setting of Object.keys(configuration.properties)) {
    assert.ok(readme.includes(`\`${setting}\``), setting);
  }
});

test("the README says how to build the extension", () => {
  assert.match(readme, /npm run package/);
  assert.ok(manifest.scripts.package);
});
