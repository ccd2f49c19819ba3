// Generated from the types in dap/src/protocol/own.rs; do not edit. After a change of those:
// FABIUS_GENERATE=1 cargo test -p fabius-dap typescript

/**
 * Where everything stands still (`fabius/at`).
 */
export type Place = {
/**
 * The number of the step that led here; 0 at the beginning.
 */
step: number,
/**
 * How many steps the run has.
 */
of: number,
/**
 * The file in which the process stands that moves next.
 */
file: string,
/**
 * Its line, from 1.
 */
line: number, };

/**
 * The arguments of `fabius/jump`.
 */
export type JumpParams = {
/**
 * The number of the step after which to be; 0 is the beginning.
 */
step: number, };

/**
 * The answer to `fabius/jump`, and to `goto`.
 */
export type Position = {
/**
 * The number of the step that led here.
 */
step: number, };

/**
 * The arguments of `fabius/hold`.
 */
export type HoldParams = {
/**
 * By its number, or by a name such as `P[1]`.
 */
process: number | string,
/**
 * Whether the process is held from now on, or released; held if nothing is said.
 */
held?: boolean,
/**
 * For how many steps of others.
 */
steps?: number,
/**
 * Until this expression is true.
 */
condition?: string, };

/**
 * The answer to `fabius/hold`.
 */
export type HeldProcesses = {
/**
 * The numbers of the processes that are held.
 */
held: Array<number>, };

/** The arguments and answers of the debugger's own requests, by command. */
export interface DebuggerRequests {
  "fabius/jump": { arguments: JumpParams; answer: Position };
  "fabius/hold": { arguments: HoldParams; answer: HeldProcesses };
}

/** The bodies of the debugger's own events, by name. */
export interface DebuggerEvents {
  "fabius/at": Place;
}
