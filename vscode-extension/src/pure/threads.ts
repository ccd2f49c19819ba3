// The editor's names of threads.

/** What a command in the call stack is called with, about a thread or one of its frames. */
export interface CallStackItem {
  threadId?: unknown;
}

/**
 * The process that a command in the call stack is about. Called on a thread, it gets the thread's number first; then, also on
 * a frame, an item with the thread as `thread:SESSION:NUMBER`. Threads count from 1, processes from 0.
 */
export function pidOf(first: unknown, item?: CallStackItem): number | undefined {
  if (typeof first === "number") return first > 0 ? first - 1 : undefined;
  const id = item?.threadId ?? (first as CallStackItem | null | undefined)?.threadId;
  const number = typeof id === "string" ? Number(/:(\d+)$/.exec(id)?.[1] ?? 0) : 0;
  return number > 0 ? number - 1 : undefined;
}
