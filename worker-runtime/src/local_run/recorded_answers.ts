// What a trial's calls are answered with where there is no server: from the record of its first run, or, in a dry run, as
// nothing had happened yet. Pure; any thread.

import type { AskedCall, RefusedCall } from "../agent/machine/asked_call.ts";
import { answerText, errorText } from "../channel/block.ts";

export interface RunRecord {
  /** The trial ran before. */
  readonly again: boolean;
  /** The step from which on it is told to stop; null: never. */
  readonly prune_at: number | null;
}

/** The call's answer for Python, JSON text. What was suggested then the trial knows, and does not ask for. */
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
  // A step that has no point is one too: no curve keeps a NaN.
  return answerText(again && prune_at !== null && step !== undefined && step >= prune_at);
}
