// Settings and versions.

import type { Settings } from "../messages";

/** The settings that are the server's. */
export const SERVER_SETTINGS = [
  "check",
  "quickMilliseconds",
  "deepSeconds",
  "batterySeconds",
  "memoryMebibytes",
  "hints",
  "defines",
  "properties",
  "fairness",
  "scheduler",
] as const satisfies readonly (keyof Settings)[];

interface Inspected {
  workspaceFolderValue?: unknown;
  workspaceValue?: unknown;
  globalValue?: unknown;
}

/** The settings that somebody made, without the defaults: these would hide what `fabius.toml` says. */
export function explicitSettings(inspect: (key: string) => Inspected | undefined): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const key of SERVER_SETTINGS) {
    const inspected = inspect(key);
    const value = inspected?.workspaceFolderValue ?? inspected?.workspaceValue ?? inspected?.globalValue;
    if (value !== undefined) found[key] = value;
  }
  return found;
}

/** Whether an extension and a server understand each other: the same version but for the last number. */
export function compatible(extension: string, server: string | undefined): boolean {
  const head = (version: string): string => version.split(/[.+-]/).slice(0, 2).join(".");
  return server !== undefined && head(extension) === head(server);
}

/** The number of steps that somebody typed as a bound on depth; 0 if it is to be none, undefined if it is no such number. */
export function stepsOf(text: string): number | undefined {
  const typed = text.trim();
  if (typed === "") return 0;
  const steps = Number(typed);
  return /^\d+$/.test(typed) && 0 < steps && Number.isSafeInteger(steps) ? steps : undefined;
}
