// `fabius lsp` as a script talks to it, for tests of pages that need no editor.

import { spawn } from "node:child_process";

export const SERVER = process.env["FABIUS_TEST_SERVER"] ?? "";

/** Answers of `fabius lsp` about a model, once its checks are over. */
export async function ask<T>(uri: string, model: string, use: (request: (method: string, params: object) => Promise<unknown>) => Promise<T>): Promise<T> {
  const child = spawn(SERVER, ["lsp"], { stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, FABIUS_CACHE: "off" } });
  const waiting = new Map<number, (result: unknown) => void>();
  let settled = (): void => undefined;
  const over = new Promise<void>((resolve) => { settled = resolve; });
  let bytes = Buffer.alloc(0);
  child.stdout.on("data", (part: Buffer) => {
    bytes = Buffer.concat([bytes, part]);
    for (;;) {
      const head = bytes.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/i.exec(bytes.subarray(0, Math.max(head, 0)).toString())?.[1] ?? NaN);
      if (head < 0 || bytes.length < head + 4 + length) return;
      const message = JSON.parse(bytes.subarray(head + 4, head + 4 + length).toString()) as { id?: number; method?: string; result?: unknown; params?: { running?: unknown } };
      bytes = bytes.subarray(head + 4 + length);
      if (message.method === "fabius/status" && message.params?.running === null) settled();
      if (message.method && message.id !== undefined) send({ id: message.id, result: null });
      else if (message.id !== undefined) waiting.get(message.id)?.(message.result);
    }
  });
  const send = (message: object): void => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  let last = 0;
  const request = (method: string, params: object): Promise<unknown> => {
    last += 1;
    const id = last;
    send({ id, method, params });
    return new Promise((resolve) => { waiting.set(id, resolve); });
  };
  try {
    await request("initialize", { processId: null, rootUri: null, capabilities: {}, initializationOptions: { status: true } });
    send({ method: "initialized", params: {} });
    send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "promela", version: 1, text: model } } });
    await over;
    return await use(request);
  } finally {
    child.kill();
  }
}
