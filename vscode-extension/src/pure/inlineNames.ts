// Which words of a model have a value that can be shown beside the code.

const KEYWORDS = new Set(
  (
    "active assert atomic bit bool break byte c_code c_decl c_expr c_state c_track chan d_step do d_proctype else empty " +
    "enabled eval false fi for full get_priority goto hidden if in init inline int len local ltl mtype nempty never nfull " +
    "notrace np_ od of pc_value pid priority printf printm proctype provided return run select set_priority short show " +
    "skip timeout trace true typedef unless unsigned until weakuntil always eventually next release implies X U W V xr xs STDIN"
  ).split(" "),
);

export interface InlineName {
  line: number;
  start: number;
  text: string;
  /** A plain name, not an element of an array. */
  plain: boolean;
}

/** The text with comments and strings blanked out, so that columns stay. */
export function code(text: string): string {
  const blank = (found: string): string => found.replace(/[^\n]/g, " ");
  return text.replace(/\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, blank);
}

/** Each name once per line, from a line on. */
export function namesIn(lines: readonly string[], first: number): InlineName[] {
  const found: InlineName[] = [];
  code(lines.join("\n"))
    .split("\n")
    .forEach((line, number) => {
      if (number < first || /^\s*#/.test(line)) return;
      const seen = new Set<string>();
      const names = /(?<![.@\w])[A-Za-z_]\w*\b(\s*\[\s*\w+\s*\])?(?!\s*(?:\(|:(?!:)))/g;
      for (const match of line.matchAll(names)) {
        const [text, index] = match;
        const word = /^\w+/.exec(text)?.[0] ?? "";
        if (KEYWORDS.has(word) || seen.has(text)) continue;
        seen.add(text);
        found.push({ line: number, start: match.index, text, plain: index === undefined });
      }
    });
  return found;
}
