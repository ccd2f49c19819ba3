// The messages of `fabius lsp` that are its own, under the names that the extension uses. The types are those of the
// server: messages.ts is generated from them, and docs/protocol.md describes them.

import type * as messages from "./messages";

export { CLAIM_PID } from "./messages";
export type { Binding, Branch, CauseFound, ExportFormat, Coverage, Lines, Mark, MovingPicture, NotExecuted, Notifications, Plot, PropertyStatus, Range, Requests, Ribbon, Running, StateAfter, Status, TracePage, Waiting } from "./messages";
export type {
  ChangeRecord as Change,
  CountedExecutions as Counted,
  MessageRecord as Message,
  NamedValue as Named,
  ProcessStatusRecord as Standing,
  PropertyState as State,
} from "./messages";

/** A step of a run, with its place if that is known. */
export interface Step extends messages.StepRecord, Partial<Pick<messages.PlacedStep, "uri" | "range" | "originalUri">> {
  /** What the claim did before it; `folded` puts it there. */
  claim?: string[];
}

/** What of an object may be left out may also be undefined: neither is sent. */
export type Given<T> = { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/** Which counterexample is meant, or which run that an answer named. */
export type Which = Given<messages.TraceSource>;

/** What `textDocument/diagnostic` says of a text. */
export interface TextFault {
  severity?: number;
  message: string;
  range: messages.Range;
}
