// Packages the extension with a server inside.
//
//   node scripts/package.mjs [--target linux-x64] [--binary PATH] [--out FILE] [--repository ADDRESS]
//
// Without --binary, target/release/fabius of the project is taken; without --target, the platform of this machine. The address of the
// repository stands in Cargo.toml; the Marketplace links to it, and shows the pictures of the README from there.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createVSIX } from "@vscode/vsce";

const BYTES_MAX = 15 * 1024 * 1024;
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
process.chdir(root);

const { values } = parseArgs({
  options: { target: { type: "string" }, binary: { type: "string" }, out: { type: "string" }, repository: { type: "string" } },
});
const target = values.target ?? `${process.platform}-${process.arch}`;
const windows = target.startsWith("win32");
const name = windows ? "fabius.exe" : "fabius";
const binary = values.binary ?? path.join("..", "target", "release", name);
if (!existsSync(binary)) {
  console.error(`${binary} is missing: build it first (cargo build --release), or name another one with --binary.`);
  process.exit(1);
}

rmSync("bin", { recursive: true, force: true });
mkdirSync("bin");
const inside = path.join("bin", name);
copyFileSync(binary, inside);
chmodSync(inside, 0o755);
try {
  execFileSync("strip", [inside], { stdio: "ignore" });
} catch {
  console.warn("strip is not there or does not know this platform: the server keeps its debugging information.");
}

const read = (file) => readFileSync(path.join("..", file), "utf8");
writeFileSync(
  "LICENSE.txt",
  `Fabius may be used under the MIT licence or the Apache licence, version 2.0, as you like.\n\n${read("LICENSE-MIT")}\n\n${read("LICENSE-APACHE")}`,
);
execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });

const manifest = readFileSync("package.json", "utf8");
const { version } = JSON.parse(manifest);
const packagePath = values.out ?? `fabius-${target}-${version}.vsix`;
const address = values.repository ?? /^repository = "(.*)"$/m.exec(read("Cargo.toml"))?.[1] ?? "";
// A placeholder until somebody owns a repository: then there is nothing to link to.
const repository = address.includes("example.invalid") ? undefined : address;
const linked = {
  repository: { type: "git", url: repository, directory: "vscode-extension" },
  homepage: repository,
  bugs: { url: `${repository}/issues` },
};
const links = repository && {
  baseContentUrl: `${repository}/blob/v${version}/vscode-extension`,
  baseImagesUrl: `${repository}/raw/v${version}/vscode-extension`,
};
if (repository) {
  writeFileSync("package.json", JSON.stringify({ ...JSON.parse(manifest), ...linked }, undefined, 2) + "\n");
}
try {
  const asked = { cwd: root, packagePath, target, dependencies: false, allowMissingRepository: true };
  await createVSIX({ ...asked, rewriteRelativeLinks: repository !== undefined, ...links });
} finally {
  writeFileSync("package.json", manifest);
}
const bytes = statSync(packagePath).size;
console.log(`${packagePath}: ${(bytes / 1024 / 1024).toFixed(1)} MB`);
if (bytes > BYTES_MAX) {
  console.error(`That is more than ${BYTES_MAX / 1024 / 1024} MB.`);
  process.exit(1);
}
