// What is known of one study's trials: rows arrive in the order in which trials finish, and a later row of a trial takes
// the place of an earlier one (R35 of server/docs/protocol.md). Page thread; pure.

import type { TrialRow } from "./rows.ts";

/** A page holds at most so many; the rest is for the Python package. */
export const MAX_ROWS = 20_000;

export interface StudyData {
  readonly study: number;
  readonly trials: readonly TrialRow[];
  /** `seq` of the newest row that was read. */
  readonly cursor: number;
  /** The page's limit was reached: later trials are not here. */
  readonly full: boolean;
}

export function noTrials(study: number): StudyData {
  return { study, trials: [], cursor: 0, full: false };
}

export function withRows(
  data: StudyData,
  rows: readonly TrialRow[],
  cursor: number,
  maxRows = MAX_ROWS,
): StudyData {
  if (rows.length === 0) {
    return { ...data, cursor };
  }
  const byNumber = new Map(data.trials.map((trial) => [trial.trial, trial]));
  let full = data.full;
  for (const row of rows) {
    if (byNumber.has(row.trial) || byNumber.size < maxRows) {
      byNumber.set(row.trial, row);
    } else {
      full = true;
    }
  }
  return { study: data.study, trials: [...byNumber.values()], cursor, full };
}
