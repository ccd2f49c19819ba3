// The grammar, over texts that say what they should look like, and over all models.

import { strict as assert } from "node:assert";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { before, test } from "node:test";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const require = createRequire(import.meta.url);
const C = JSON.stringify({ scopeName: "source.c", patterns: [{ name: "storage.type.c", match: "\\b(int|struct)\\b" }] });

let grammar: textmate.IGrammar;

before(async () => {
  await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: (scope) => {
      if (scope === "source.c") return Promise.resolve(textmate.parseRawGrammar(C, "c.json"));
      const file = "syntaxes/promela.tmLanguage.json";
      return Promise.resolve(textmate.parseRawGrammar(readFileSync(file, "utf8"), file));
    },
  });
  const loaded = await registry.loadGrammar("source.promela");
  assert.ok(loaded);
  grammar = loaded;
});

interface Token {
  text: string;
  scopes: string;
}

function read(text: string): { tokens: Token[]; depth: number } {
  const tokens: Token[] = [];
  let stack = textmate.INITIAL;
  for (const line of text.split(/\r?\n/)) {
    const result = grammar.tokenizeLine(line, stack);
    for (const token of result.tokens) tokens.push({ text: line.slice(token.startIndex, token.endIndex), scopes: token.scopes.join(" ") });
    stack = result.ruleStack;
  }
  // What ends with its line ends with the next one.
  stack = grammar.tokenizeLine("", stack).ruleStack;
  return { tokens, depth: stack.depth };
}

/** Each pair: a piece of the text, and what one of its scopes begins with. */
function looks(text: string, ...expected: [string, string][]): void {
  const { tokens } = read(text);
  let at = 0;
  for (const [piece, scope] of expected) {
    const found = tokens.findIndex((token, index) => index >= at && token.text.trim() === piece);
    assert.ok(found >= 0, `${piece} is no token of ${JSON.stringify(tokens)}`);
    const { scopes } = tokens[found] ?? { scopes: "" };
    assert.ok(scopes.split(" ").some((one) => one.startsWith(scope)), `${piece} is ${scopes}, not ${scope}`);
    at = found + 1;
  }
}

test("declarations", () => {
  looks("active [2] proctype Worker(byte n) { chan q = [1] of { mtype } }", ["active", "storage.modifier"], ["2", "constant.numeric"], ["proctype", "storage.type.process"], ["Worker", "entity.name.type.process"], ["byte", "storage.type.promela"], ["n", "variable.other"], ["chan", "storage.type.promela"]);
  looks("inline swap(a, b) { skip }", ["inline", "storage.type.inline"], ["swap", "entity.name.function.inline"], ["skip", "constant.language"]);
  looks("typedef Msg { int x }", ["typedef", "storage.type"], ["Msg", "entity.name.type"]);
});

test("statements", () => {
  looks("progress_1: do :: x > 0 -> goto again :: else -> break od", ["progress_1", "entity.name.label.special"], ["do", "keyword.control"], ["::", "keyword.operator.option"], [">", "keyword.operator.comparison"], ["->", "keyword.operator.arrow"], ["goto", "keyword.control.goto"], ["again", "entity.name.label"], ["else", "keyword.control"]);
  looks("again: run P(1); assert(x == 1)", ["again", "entity.name.label"], ["run", "keyword.operator.run"], ["P", "entity.name.type.process"], ["assert", "keyword.other.assert"], ["==", "keyword.operator.comparison"]);
  looks("q!1; q??m; q[i]?x; !y", ["!", "keyword.operator.channel"], ["??", "keyword.operator.channel"], ["?", "keyword.operator.channel"], ["!", "keyword.operator.logical"]);
});

test("comments, strings and annotations", () => {
  looks('/* a // b */ x // c "d"', ["x", "variable.other"], ['c "d"', "comment.line"]);
  looks('printf("%d \\n /* no */")', ["printf", "support.function"], ["%d", "constant.other.placeholder"], ["\\n", "constant.character.escape"]);
  looks("/*@ expect: violated */", ["expect", "keyword.other.annotation"], ["violated", "constant.language"]);
  looks("/* one\n two */ bit b", ["two", "comment.block"], ["bit", "storage.type"]);
});

test("the preprocessor", () => {
  looks("#define N 3 /* three */\nbyte x", ["#define", "keyword.control.directive.define"], ["N", "entity.name.function.preprocessor"], ["3", "constant.numeric"], ["byte", "storage.type"]);
  looks("#define two(a) \\\n  a; a\nbyte x", ["two", "entity.name.function.preprocessor"], ["a", "variable.parameter"], ["byte", "storage.type"]);
  looks('#include "m.h"\n#if defined(X) && Y > 2\n#endif', ["#include", "keyword.control.directive.include"], ["#if", "keyword.control.directive.conditional"], ["defined", "keyword.operator.defined"], ["2", "constant.numeric"], ["#endif", "keyword.control.directive.conditional"]);
});

test("formulas", () => {
  looks("ltl p { [] (a -> <> b U c) }\nbyte x", ["ltl", "keyword.other.ltl"], ["p", "entity.name.type.property"], ["[]", "keyword.operator.temporal"], ["->", "keyword.operator.logical"], ["<>", "keyword.operator.temporal"], ["U", "keyword.operator.temporal"], ["byte", "storage.type"]);
  looks("U = 1; X[2] = 3", ["U", "variable.other"], ["X", "variable.other"]);
  looks("never claim { do :: !(Worker[0]@cs) od }", ["never", "storage.type.claim"], ["claim", "entity.name.type.property"], ["Worker", "entity.name.type.process"], ["@", "keyword.operator.remote"], ["cs", "entity.name.label"]);
});

test("embedded C", () => {
  const text = 'c_code { int x = 1; if (x) { x = "}"[0]; } }; byte y';
  looks(text, ["c_code", "keyword.other.embedded"], ["int", "meta.embedded.block.c"], ["byte", "storage.type.promela"]);
  const { tokens } = read(text);
  assert.ok(!tokens.some((token) => token.text.includes("byte") && token.scopes.includes("embedded.block")));
  looks("c_expr [x > 0] { now.x == 2 } -> skip", ["c_expr", "keyword.other.embedded"], ["->", "keyword.operator.arrow"]);
});

function models(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return models(name);
    return /\.(pml|prom|promela|spin)$/.test(entry.name) ? [name] : [];
  });
}

test("nothing stays open at the end of a model", (context) => {
  const corpus = process.env["FABIUS_CORPUS"] ?? "../../shared/corpus";
  if (!existsSync(corpus)) context.diagnostic("the corpus is not here; only our own models are read");
  const all = [...models("../models"), ...(existsSync(corpus) ? models(corpus) : [])];
  assert.ok(all.length >= 10, `only ${all.length} models`);
  const open = all.filter((name) => {
    const text = readFileSync(name, "latin1");
    return text.length < 200_000 && read(text).depth !== 1;
  });
  // Some models of the corpus end in the middle of a comment or a block of C; ours do not.
  assert.deepEqual(open.filter((name) => name.startsWith("../models")), []);
  assert.ok(open.length * 50 <= all.length, open.join("\n"));
});
