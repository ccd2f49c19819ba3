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
  evaluateName?: string;
  variablesReference: number;
}

interface Scope {
  name: string;
  variablesReference: number;
}

/** The variables of a scope by their names; elements of arrays by theirs. */
async function named(session: vscode.DebugSession, threadId: number | undefined, wanted: string): Promise<Map<string, string>> {
  const { stackFrames } = (await session.customRequest("stackTrace", { threadId })) as { stackFrames: { id: number }[] };
  const { scopes } = (await session.customRequest("scopes", { frameId: stackFrames[0]?.id })) as { scopes: Scope[] };
  const values = new Map<string, string>();
  const take = async (variablesReference: number): Promise<void> => {
    const { variables } = (await session.customRequest("variables", { variablesReference })) as { variables: Variable[] };
    for (const variable of variables) {
      values.set(variable.evaluateName ?? variable.name, variable.value);
      if (variable.variablesReference > 0) await take(variable.variablesReference);
    }
  };
  for (const { name, variablesReference } of scopes) if (name === wanted) await take(variablesReference);
  return values;
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

  // The debugger walks the run that the editor shows, not another one to the same error.
  for (let step = 0; step <= first.of; step++) {
    const here = at(step);
    await session.customRequest("fabius/jump", { step });
    await here;
    const shown = await api.server.request("fabius/step", { ...which, step });
    const globals = await named(session, threadId, "Globals");
    assert.deepEqual(shown.variables.map(({ name }) => [name, globals.get(name)]), shown.variables.map(({ name, value }) => [name, value]), `after step ${step}`);
  }

  const there = at(8);
  await session.customRequest("fabius/jump", { step: 8 });
  await there;
  await selected(api, which, 8);

  const ended = new Promise<void>((resolve) => {
    const listener = vscode.debug.onDidTerminateDebugSession(() => {
      listener.dispose();
      resolve();
    });
  });
  await vscode.debug.stopDebugging(session);
  await ended;
}
