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
line: number,
/**
 * The parts that make the conditions false at which blocked processes wait.
 */
parts: Array<FalsePart>, };

/**
 * A part of a condition that makes it false.
 */
export type FalsePart = {
/**
 * The process that waits, such as `P[1]`.
 */
process: string,
/**
 * Whether the part is true or false, and the values of which it is made, in a sentence.
 */
sentence: string,
/**
 * The file in which it is written.
 */
file: string,
/**
 * Where it begins: the line, from 1.
 */
line: number,
/**
 * The column, in characters, from 1.
 */
column: number,
/**
 * Where it ends: the line.
 */
endLine: number,
/**
 * The column after it.
 */
endColumn: number, };

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
