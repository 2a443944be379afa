// Reads and checks the return value of run_attempt. The check is needed because trial code shares the runner's thread
// and may have changed the runner. Pure; agent thread.

import * as v from "valibot";
import { hasAtMostBytes } from "../../protocol/fields.ts";
import { MAX_ATTRS_BYTES } from "../../protocol/limits.ts";
import { cause, type Failure } from "../../protocol/messages.ts";

/** The cause of failure for each crash code. All other codes mean that the device is lost (`device_lost`). */
const CRASH_CAUSES: Readonly<Record<string, Failure["cause"]>> = {
  out_of_memory: "out_of_memory",
  channel_violation: "invalid",
};

/** The way in which an attempt ended. */
export type Outcome = (
  | { readonly outcome: "complete"; readonly values: readonly number[] }
  | { readonly outcome: "pruned" }
  | { readonly outcome: "failed"; readonly error: Failure }
) & {
  /** JSON text of the trial's attributes, which only the researcher's process reads. */
  readonly attrs?: string | undefined;
};

const number = v.pipe(v.number(), v.finite());
// Malformed attributes are left out, and the outcome is kept.
const attrs = v.fallback(
  v.optional(
    v.pipe(
      v.string(),
      v.check((text) => text.isWellFormed() && hasAtMostBytes(text, MAX_ATTRS_BYTES)),
    ),
  ),
  undefined,
);
const outcomeSchema = v.variant("outcome", [
  v.object({
    outcome: v.literal("complete"),
    values: v.pipe(v.array(number), v.minLength(1), v.maxLength(8)),
    attrs,
  }),
  v.object({ outcome: v.literal("pruned"), attrs }),
  v.object({
    outcome: v.literal("failed"),
    error: v.object({
      cause,
      code: v.string(),
      message: v.string(),
      traceback: v.string(),
    }),
    attrs,
  }),
]);

export function parseOutcome(text: string): Outcome {
  try {
    return v.parse(outcomeSchema, JSON.parse(text));
  } catch {
    const message = "The objective's outcome is not 1 to 8 finite numbers.";
    const error = { cause: "invalid" as const, code: "outcome_malformed", message, traceback: "" };
    return { outcome: "failed", error };
  }
}

/** Returns the outcome of an attempt whose thread has crashed. */
export function crashOutcome(code: string, message: string): Outcome {
  const cause = CRASH_CAUSES[code] ?? "device_lost";
  return { outcome: "failed", error: { cause, code, message, traceback: "" } };
}

const backendSchema = v.object({ backend: v.picklist(["webgpu", "webgl2", "cpu", "numpy"]) });

/** Returns the back end that the attempt names, or plain NumPy if it names no known one. */
export function backendOf(text: string): string {
  try {
    return v.parse(backendSchema, JSON.parse(text)).backend;
  } catch {
    return "numpy";
  }
}
