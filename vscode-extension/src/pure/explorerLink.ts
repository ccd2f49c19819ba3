// The connection to a terminal explorer: it says where it is, and is told which step the editor shows. See `tui/src/editor_link.rs`.

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

/** The variable of the environment that tells the explorer where the editor listens. */
export const VARIABLE = "FABIUS_EDITOR_SOCKET";

/** What an explorer shows. */
export interface Shown {
  /** The line that is marked in its source, from 1. */
  line: number;
  /** The step that led to its state; 0 for the initial one. */
  step: number;
  /** Whether that is a state of the run that it was opened with. */
  run: boolean;
}

/** What somebody at the other end wrote, if an explorer writes such lines. */
export function shownOf(line: string): Shown | undefined {
  try {
    const said = JSON.parse(line) as Partial<Record<keyof Shown, unknown>> | null;
    const { line: at, step, run } = said ?? {};
    return typeof at === "number" && typeof step === "number" && typeof run === "boolean" ? { line: at, step, run } : undefined;
  } catch {
    return undefined;
  }
}

/** Listens to one explorer. */
export class ExplorerLink {
  private readonly server: Server;
  private explorer: Socket | undefined;
  /** The step that both know to be shown. */
  private step: number | undefined;

  private constructor(
    readonly socket: string,
    moved: (shown: Shown) => void,
  ) {
    this.server = createServer((explorer) => {
      this.explorer ??= explorer;
      if (this.explorer !== explorer) {
        explorer.destroy();
        return;
      }
      explorer.on("error", () => undefined);
      createInterface({ input: explorer }).on("line", (line) => {
        const shown = shownOf(line);
        if (!shown) return;
        this.step = shown.run ? shown.step : undefined;
        moved(shown);
      });
    });
  }

  /** Begins to listen; nothing where there are no such sockets. */
  static async open(moved: (shown: Shown) => void): Promise<ExplorerLink | undefined> {
    if (process.platform === "win32") return undefined;
    const link = new ExplorerLink(path.join(tmpdir(), `fabius-${randomBytes(8).toString("hex")}.sock`), moved);
    return new Promise((resolve) => {
      link.server.once("error", () => { resolve(undefined); });
      link.server.listen(link.socket, () => { resolve(link); });
    });
  }

  /** Has the explorer show a step of the run, unless it does. */
  show(step: number): void {
    if (step === this.step || !this.explorer) return;
    this.step = step;
    this.explorer.write(`${JSON.stringify({ step })}\n`);
  }

  async dispose(): Promise<void> {
    this.explorer?.destroy();
    this.server.close();
    await rm(this.socket, { force: true });
  }
}
