// The known rows of one study's trials. They arrive in the order in which trials finish. A later row of a trial replaces an
// earlier one (R35 of server/docs/protocol.md). Page thread.

import type { TrialRow } from "./rows.ts";

/** The most rows that a page shows. The Python package reads larger studies. */
export const MAX_ROWS = 100_000;

export interface StudyData {
  readonly study: number;
  readonly trials: readonly TrialRow[];
  /** The `seq` of the newest row that was read. */
  readonly cursor: number;
  /** Whether the table has MAX_ROWS trials, so that later trials are missing. */
  readonly full: boolean;
  /** Where each trial is in `trials`. Only `withRows` uses it: all versions of the data share it. */
  readonly places: Map<number, number>;
}

export function noTrials(study: number): StudyData {
  return { study, trials: [], cursor: 0, full: false, places: new Map() };
}

/** Returns the data with more rows. Only one of the versions that follow from `data` may be kept. */
export function withRows(
  data: StudyData,
  rows: readonly TrialRow[],
  cursor: number,
  maxRows = MAX_ROWS,
): StudyData {
  if (rows.length === 0) {
    return { ...data, cursor };
  }
  const { places } = data;
  const trials = data.trials.slice();
  let full = data.full;
  for (const row of rows) {
    const place = places.get(row.trial);
    // After an answer was dropped, a place may be that of a row which this version never got.
    if (place !== undefined && trials[place]?.trial === row.trial) {
      trials[place] = row;
    } else if (trials.length < maxRows) {
      places.set(row.trial, trials.length);
      trials.push(row);
    } else {
      full = true;
    }
  }
  return { study: data.study, trials, cursor, full, places };
}
