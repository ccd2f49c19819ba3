// Holding processes: the debugger does not let a process move until it is released, or as a schedule has it under which the model
// is safe.

import * as vscode from "vscode";
import type { HoldParams } from "./debugMessages";
import { type CallStackItem, pidOf } from "./pure/threads";

interface Thread {
  id: number;
  name: string;
}

interface Process {
  session: vscode.DebugSession;
  pid: number;
  name: string;
}

/** The process that a command is about: the one that it is called on in the call stack, else one that is chosen. */
async function chosen(pid: number | undefined, title: string): Promise<Process | undefined> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== "fabius") {
    void vscode.window.showInformationMessage("Step through a Promela model first: a process is held while it is debugged.");
    return undefined;
  }
  const { threads } = (await session.customRequest("threads")) as { threads: Thread[] };
  const processes = threads.map(({ id, name }) => ({ label: name, session, pid: id - 1, name: name.replace(/ [(⏸].*$/, "") }));
  return processes.find((process) => process.pid === pid) ?? vscode.window.showQuickPick(processes, { title });
}

async function hold({ session, pid, name }: Process, until: Omit<HoldParams, "process">): Promise<void> {
  const params: HoldParams = { process: pid, ...until };
  try {
    await session.customRequest("fabius/hold", params);
  } catch (error) {
    void vscode.window.showErrorMessage(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function holdUntil(process: Process): Promise<void> {
  const until = await vscode.window.showInputBox({
    title: `Hold ${process.name} until`,
    prompt: "A number of steps of others, or a condition in the words of the model",
    placeHolder: "3, or turn == 1",
  });
  if (!until?.trim()) return;
  await hold(process, /^\s*\d+\s*$/.test(until) ? { steps: Number(until) } : { condition: until });
}

/** Follows a schedule under which the model is safe, or no longer; the debugger looks for it. */
async function followSchedule(follow: boolean): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== "fabius") {
    void vscode.window.showInformationMessage("Step through a Promela model first: a schedule is followed while it is debugged.");
    return;
  }
  try {
    const expression = `avoid ${follow ? "on" : "off"}`;
    const { result } = (await session.customRequest("evaluate", { expression, context: "repl" })) as { result: string };
    void vscode.window.showInformationMessage(result);
  } catch (error) {
    void vscode.window.showInformationMessage(error instanceof Error ? error.message : String(error));
  }
}

export function holding(): vscode.Disposable[] {
  const on = (command: string, title: string, run: (process: Process) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(command, async (first?: unknown, item?: CallStackItem) => {
      const process = await chosen(pidOf(first, item), title);
      if (process) await run(process);
    });
  return [
    on("fabius.holdProcess", "Hold", (process) => hold(process, {})),
    on("fabius.holdProcessUntil", "Hold", holdUntil),
    on("fabius.releaseProcess", "Release", (process) => hold(process, { held: false })),
    vscode.commands.registerCommand("fabius.followSchedule", () => followSchedule(true)),
    vscode.commands.registerCommand("fabius.leaveSchedule", () => followSchedule(false)),
  ];
}
