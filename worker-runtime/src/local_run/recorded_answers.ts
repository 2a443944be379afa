// Answers a trial's calls where there is no server. A replay gets the answers that follow from the record of the first
// run. A dry run, which has no such record, is never told to stop. Pure; any thread.

import type { AskedCall, RefusedCall } from "../agent/machine/asked_call.ts";
import { answerText, errorText } from "../channel/block.ts";

export interface RunRecord {
  /** Whether the trial has run before. */
  readonly again: boolean;
  /** The first step at which the trial is told to stop; null if it never is. */
  readonly prune_at: number | null;
}

/**
 * Returns the answer for Python as JSON text. `suggest` is always refused: a replayed trial already has its recorded
 * values, and a dry run has no sampler.
 */
export function answerTo(asked: AskedCall | RefusedCall, record: RunRecord): string {
  if ("code" in asked) return errorText(asked.code, asked.message);
  if (asked.method === "suggest") {
    const message = record.again
      ? `the trial was given no value for '${asked.args.name}' when it ran before`
      : `nobody suggests a value for '${asked.args.name}' in a dry run`;
    return errorText("owner_error", message);
  }
  const { step } = asked.args;
  const { again, prune_at } = record;
  // The trial is pruned at each step from `prune_at` on. A step whose value was NaN has no point on the recorded curve,
  // so the first run may have been pruned at a later step than the curve's last one.
  return answerText(again && prune_at !== null && step !== undefined && step >= prune_at);
}
