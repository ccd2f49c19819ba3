// The debugger, through the editor's own interfaces.

import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import type { Api } from "../../src/extension";

interface At {
  step: number;
  of: number;
  line: number;
}

/** Waits until the debugger is after a step, however it got there. */
function at(step: number): Promise<{ session: vscode.DebugSession; at: At }> {
  return new Promise((resolve) => {
    const listener = vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
      if (event !== "fabius/at" || (body as At).step !== step) return;
      listener.dispose();
      resolve({ session, at: body as At });
    });
  });
}

async function selected(api: Api, which: { uri: string; property: string }, step: number): Promise<void> {
  while (api.panels.stateOf(which)?.selected !== step) await new Promise((resolve) => setImmediate(resolve));
}

interface Variable {
  name: string;
  value: string;
}

export async function debugger_(api: Api, uri: vscode.Uri): Promise<void> {
  const which = { uri: uri.toString(), property: "safety" };
  await api.panels.show(which);
  while (api.panels.stateOf(which)?.steps !== 9) await new Promise((resolve) => setImmediate(resolve));

  const begun = at(0);
  await vscode.commands.executeCommand("fabius.stepThrough", which);
  const { session, at: first } = await begun;
  assert.equal(first.of, 9);
  const { threads } = (await session.customRequest("threads")) as { threads: { id: number; name: string }[] };
  assert.ok(threads.some(({ name }) => name.includes("Worker[0]")), JSON.stringify(threads));
  const threadId = threads[0]?.id;

  const moved = at(1);
  await session.customRequest("next", { threadId });
  await moved;
  await selected(api, which, 1);

  const back = at(0);
  await session.customRequest("stepBack", { threadId });
  await back;
  await selected(api, which, 0);

  const there = at(8);
  await session.customRequest("fabius/jump", { step: 8 });
  await there;
  await selected(api, which, 8);
  const { stackFrames } = (await session.customRequest("stackTrace", { threadId })) as { stackFrames: { id: number }[] };
  const { scopes } = (await session.customRequest("scopes", { frameId: stackFrames[0]?.id })) as { scopes: { variablesReference: number }[] };
  const values = new Map<string, string>();
  for (const { variablesReference } of scopes) {
    const { variables } = (await session.customRequest("variables", { variablesReference })) as { variables: Variable[] };
    for (const { name, value } of variables) values.set(name, value);
  }
  assert.ok(values.get("critical")?.includes("2"), JSON.stringify([...values]));

  const ended = new Promise<void>((resolve) => {
    const listener = vscode.debug.onDidTerminateDebugSession(() => {
      listener.dispose();
      resolve();
    });
  });
  await vscode.debug.stopDebugging(session);
  await ended;
}
