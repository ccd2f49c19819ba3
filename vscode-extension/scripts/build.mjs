// Bundles the extension and its panels into dist/; with --tests also the tests into out/.
import * as esbuild from "esbuild";
import { readdirSync, rmSync, writeFileSync } from "node:fs";

const tests = process.argv.includes("--tests");
const common = { bundle: true, logLevel: "warning", legalComments: "none", target: "es2022", loader: { ".css": "text" } };

const extension = await esbuild.build({
  ...common,
  entryPoints: { extension: "src/extension.ts" },
  outdir: "dist",
  platform: "node",
  format: "cjs",
  external: ["vscode"],
  minify: true,
  metafile: true,
});
writeFileSync("dist/bundled.json", JSON.stringify(Object.keys(extension.metafile.inputs)));

await esbuild.build({
  ...common,
  entryPoints: { trace: "src/webview/main.ts", graph: "src/webview/graph.ts" },
  outdir: "dist",
  platform: "browser",
  format: "iife",
  minify: true,
});

if (tests) {
  rmSync("out", { recursive: true, force: true });
  const files = (folder) =>
    readdirSync(folder).filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`);
  for (const folder of ["unit", "e2e", "grammar"]) {
    await esbuild.build({
      ...common,
      entryPoints: files(`test/${folder}`),
      outdir: `out/${folder}`,
      platform: "node",
      format: "esm",
      outExtension: { ".js": ".mjs" },
      packages: "external",
    });
  }
  await esbuild.build({
    ...common,
    entryPoints: ["test/host/index.ts"],
    outdir: "out/host",
    platform: "node",
    format: "cjs",
    external: ["vscode"],
  });
}
