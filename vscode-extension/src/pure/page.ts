// The trace panel as a page: inside the editor, or as one file that needs nothing else.

import type { TraceData } from "./trace";

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** JSON that can stand inside a script element. */
export function embedded(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A page whose script may be run and whose style may be used only because they carry the nonce. */
export function page(title: string, nonce: string, script: string, style: string, data?: TraceData): string {
  const source = script.startsWith("https:") || script.startsWith("vscode-");
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  const code = source
    ? `<script nonce="${nonce}" src="${escape(script)}"></script>`
    : `<script nonce="${nonce}">${script.replace(/<\/(script)/gi, "<\\/$1")}</script>`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<main id="app"></main>
${data ? `<script nonce="${nonce}" type="application/json" id="data">${embedded(data)}</script>` : ""}
${code}
</body>
</html>
`;
}
