// The drawing beside a model: what its bindings say after a step.

import type { Binding } from "../protocol";

/** The value of a binding after a step; undefined before its first. */
export function valueAfter(binding: Binding, step: number): string | null | undefined {
  return binding.values.findLast((value) => value.step <= step)?.value;
}

/** Whether an element is shown whose `shown` has this value. */
export function isShown(value: string | null): boolean {
  return value !== null && value !== "0" && value !== "false";
}
