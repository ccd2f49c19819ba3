import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FILES_THAT_MATTER, MODEL_FILES } from "../../src/pure/endings";

interface Manifest {
  contributes: { languages: { extensions: string[] }[] };
}

test("all files that are Promela are found and watched", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  const endings = manifest.contributes.languages[0]?.extensions.map((ending) => ending.slice(1)) ?? [];
  assert.ok(endings.includes("pr") && endings.includes("pmlx"));
  assert.equal(MODEL_FILES, `**/*.{${endings.join(",")}}`);
  assert.equal(FILES_THAT_MATTER, `**/{fabius.toml,${endings.map((ending) => `*.${ending},`).join("")}*.h,*.inc}`);
});
