// The known rows of one study's trials. They arrive in the order in which trials finish. A later row of a trial replaces an
// earlier one (R35 of server/docs/protocol.md). Page thread; pure.

import type { TrialRow } from "./rows.ts";

/** The most rows that a page shows. The Python package reads larger studies. */
export const MAX_ROWS = 20_000;

export interface StudyData {
  readonly study: number;
  readonly trials: readonly TrialRow[];
  /** The `seq` of the newest row that was read. */
  readonly cursor: number;
  /** Whether the table has MAX_ROWS trials, so that later trials are missing. */
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
