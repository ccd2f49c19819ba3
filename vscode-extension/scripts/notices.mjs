// Writes ThirdPartyNotices.txt: what is bundled into the extension and into the server, and under which licences.
// With --check, only says whether the part about the extension is up to date.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

const FILE = "ThirdPartyNotices.txt";
const RULE = "=".repeat(80);

/** The packages of which something is in the bundle. */
function bundled() {
  const inputs = JSON.parse(readFileSync("dist/bundled.json", "utf8"));
  const names = inputs.map((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+(?:\/node_modules\/(?:@[^/]+\/)?[^/]+)*)\//.exec(input)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

function notice(name) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(`${folder}/${file}`, "utf8").replace(/\r\n/g, "\n").trim() : "";
  return `${RULE}\n${name.replace(/.*node_modules\//, "")} ${version} (${license})\n${RULE}\n\n${text}\n`;
}

function extension() {
  return `The extension contains these packages:\n\n${bundled().map(notice).join("\n")}`;
}

/** The crates of which something is in the server. */
function server() {
  const flags = ["metadata", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu", "--manifest-path", "../Cargo.toml"];
  const metadata = JSON.parse(execFileSync("cargo", flags, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
  const packages = new Map(metadata.packages.map((one) => [one.id, one]));
  const reached = new Set();
  const waiting = [metadata.resolve.root];
  while (waiting.length > 0) {
    const id = waiting.pop();
    if (reached.has(id)) continue;
    reached.add(id);
    for (const dependency of nodes.get(id).deps) {
      if (dependency.dep_kinds.some(({ kind }) => kind === null)) waiting.push(dependency.pkg);
    }
  }
  const lines = [...reached].map((id) => packages.get(id)).filter((one) => one.source !== null);
  const told = lines.map(({ name, version, license }) => `${name} ${version} (${license})`).sort();
  return `${RULE}\nThe server contains these crates, each under its licence:\n${RULE}\n\n${told.join("\n")}\n`;
}

if (process.argv.includes("--check")) {
  const present = existsSync(FILE) ? readFileSync(FILE, "utf8") : "";
  if (!present.startsWith(extension())) {
    console.error(`${FILE} is not up to date: run npm run notices`);
    process.exit(1);
  }
} else {
  writeFileSync(FILE, `${extension()}\n${server()}`);
}
