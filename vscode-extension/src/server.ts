// Finds the server, starts it, and speaks with it.

import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  State,
  vsdiag,
} from "vscode-languageclient/node";
import { FILES_THAT_MATTER } from "./pure/endings";
import { sectionLine } from "./pure/manual";
import { compatible, explicitSettings } from "./pure/settings";
import type { Given, Notifications, Requests, Status, TextFault } from "./protocol";

const LANGUAGE = "promela";
const RESTARTS_MAX = 4;

/** The `fabius` to run: the one in the settings, else the one inside the extension, else one on the path. */
export function serverPath(context: vscode.ExtensionContext): string {
  const chosen = vscode.workspace.getConfiguration("fabius").get<string>("server.path", "").trim();
  if (chosen) return chosen.replace(/^~(?=[/\\])/, process.env["HOME"] ?? "~");
  const name = process.platform === "win32" ? "fabius.exe" : "fabius";
  const bundled = path.join(context.extensionPath, "bin", name);
  return fs.existsSync(bundled) ? bundled : name;
}

export interface Handlers {
  status(status: Status): void;
  stopped(): void;
  /** A command of the server that the extension carries out itself; returns whether it did. */
  command(name: string, argument: unknown): boolean;
}

/** The connection to the language server. */
export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private started: Promise<LanguageClient> | undefined;
  private readonly watching: vscode.Disposable;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly handlers: Handlers,
  ) {
    // Another server is used at once, also where trust in the workspace lets its settings count.
    this.watching = vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("fabius.server.path") && this.started) void this.restart().catch(() => undefined);
    });
  }

  private create(): LanguageClient {
    const command = serverPath(this.context);
    const run = { command, args: ["lsp"] };
    const server: ServerOptions = { run, debug: run };
    let restarts = 0;
    const options: LanguageClientOptions = {
      documentSelector: [
        { language: LANGUAGE, scheme: "file" },
        { language: LANGUAGE, scheme: "untitled" },
      ],
      initializationOptions: { status: true },
      synchronize: {
        fileEvents: vscode.workspace.createFileSystemWatcher(FILES_THAT_MATTER),
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => {
          restarts += 1;
          if (restarts <= RESTARTS_MAX) return { action: CloseAction.Restart };
          return {
            action: CloseAction.DoNotRestart,
            message: `${command} stopped ${restarts} times. The log is in the output channel “Fabius”; “Fabius: Restart Server” starts it again.`,
          };
        },
      },
      middleware: {
        handleDiagnostics: (uri, diagnostics, next) => { next(uri, withSections(diagnostics)); },
        provideDiagnostics: async (document, previous, token, next) => {
          const report = await next(document, previous, token);
          if (report && "items" in report) withSections(report.items);
          return report;
        },
        provideWorkspaceDiagnostics: (known, token, report, next) =>
          next(known, token, (chunk) => {
            for (const item of chunk?.items ?? []) if (item.kind === vsdiag.DocumentDiagnosticReportKind.full) withSections(item.items);
            report(chunk);
          }),
        workspace: { configuration: (params) => params.items.map((item) => settings(item.scopeUri)) },
        executeCommand: (name, args, next) =>
          this.handlers.command(name, (args as unknown[])[0]) ? undefined : (next(name, args) as unknown),
      },
    };
    return new LanguageClient("fabius", "Fabius", server, options);
  }

  /** Starts the server if it does not run; nobody has to wait for it. */
  start(): Promise<LanguageClient> {
    this.started ??= this.begin();
    return this.started;
  }

  private async begin(): Promise<LanguageClient> {
    const client = this.create();
    this.client = client;
    const changed: keyof Notifications = "fabius/status";
    client.onNotification(changed, (status: Status) => {
      this.handlers.status(status);
    });
    client.onDidChangeState((change) => {
      if (change.newState === State.Stopped) this.handlers.stopped();
    });
    try {
      await client.start();
    } catch (error) {
      void this.explainFailure(error);
      throw error;
    }
    void this.compareVersions(client.initializeResult?.serverInfo?.version);
    return client;
  }

  /** Starts the server anew, with the settings as they are now. */
  async restart(): Promise<void> {
    const before = this.client;
    this.started = undefined;
    await before?.dispose().catch(() => undefined);
    await this.start();
  }

  /** Sends one of Fabius's own requests. */
  async request<M extends keyof Requests>(method: M, params: Given<Requests[M]["params"]>): Promise<Requests[M]["answer"]> {
    const client = await this.start();
    return client.sendRequest<Requests[M]["answer"]>(method, params);
  }

  /** What is wrong with a text. */
  async diagnostics(uri: vscode.Uri): Promise<TextFault[]> {
    const client = await this.start();
    const params = { textDocument: { uri: uri.toString() } };
    const { items } = await client.sendRequest<{ items?: TextFault[] }>("textDocument/diagnostic", params);
    return items ?? [];
  }

  private async explainFailure(error: unknown): Promise<void> {
    const command = serverPath(this.context);
    const reason = error instanceof Error ? error.message : String(error);
    const settingsButton = "Open Settings";
    const chosen = await vscode.window.showErrorMessage(
      `The language server does not start: ${command} lsp. ${reason}`,
      settingsButton,
    );
    if (chosen === settingsButton) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "fabius.server.path");
    }
  }

  /** An extension and a server of different versions may not understand each other; the person is told. */
  private async compareVersions(theirs: string | undefined): Promise<void> {
    const own = String((this.context.extension.packageJSON as { version: unknown }).version);
    if (compatible(own, theirs)) return;
    const button = "Open Settings";
    const chosen = await vscode.window.showWarningMessage(
      `This extension is made for fabius ${own}, but ${serverPath(this.context)} is version ${theirs ?? "unknown"}. Some things may not work.`,
      button,
    );
    if (chosen === button) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "fabius.server.path");
    }
  }

  dispose(): void {
    this.watching.dispose();
    void this.client?.dispose();
  }
}

/** The editor opens a page of text at a line, not at a heading: the links of findings lead to their sections. */
function withSections(diagnostics: vscode.Diagnostic[]): vscode.Diagnostic[] {
  const pages = new Map<string, string>();
  for (const { code } of diagnostics) {
    if (typeof code !== "object" || code.target.scheme !== "file") continue;
    const { fsPath } = code.target;
    try {
      const page = pages.get(fsPath) ?? fs.readFileSync(fsPath, "utf8");
      pages.set(fsPath, page);
      const line = sectionLine(page, String(code.value));
      if (line > 0) code.target = code.target.with({ fragment: `L${line}` });
    } catch {
      // The page is gone: the link stays as it is.
    }
  }
  return diagnostics;
}

/** What somebody set; what nobody set is left to `fabius.toml` and the server's defaults. */
function settings(scope: string | undefined): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration(
    "fabius",
    scope ? vscode.Uri.parse(scope) : vscode.window.activeTextEditor?.document.uri,
  );
  return explicitSettings((key) => configuration.inspect(key));
}
