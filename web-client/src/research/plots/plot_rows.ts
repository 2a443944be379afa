// What the plots of parameters share: the axes of the chosen columns, and the rows that match. Page thread.

import { useMemo } from "preact/hooks";
import type { StudyRow, TrialRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { headingOf } from "../trials/cells.ts";
import { type Column, cellReader, columnKey } from "../trials/columns.ts";
import { completeRows } from "./analysis/complete_rows.ts";
import { type Axis, type AxisScale, axisOf } from "./axis.ts";
import type { Mark } from "./scatter.ts";

/** Returns the complete trials that match the filter and the ranges, by number. */
export function useCompleteRows(store: ResearchStore): readonly TrialRow[] {
  const all = store.data.value.trials;
  const matches = store.trials.matches.value;
  return useMemo(() => completeRows(all.filter((_, i) => matches[i] === 1)), [all, matches]);
}

export interface ColumnAxis {
  readonly key: string;
  readonly axis: Axis;
}

/** Returns the axes of some columns, computed once for each version of the rows. */
export function useAxes(
  columns: readonly Column[],
  rows: readonly TrialRow[],
  scale: AxisScale,
  store: ResearchStore,
): readonly ColumnAxis[] {
  const keys = JSON.stringify(
    columns.map((column) => [columnKey(column), headingOf(column, store)]),
  );
  // The keys stand for the columns and their headings, which are new lists in each rendering.
  return useMemo(
    () =>
      columns.map((column) => ({
        key: columnKey(column),
        axis: axisOf(headingOf(column, store), rows.map(cellReader(column)), scale),
      })),
    [keys, rows, scale],
  );
}

/** Returns how a trial is marked. */
export function useMarks(
  study: Pick<StudyRow, "best" | "bestTrials">,
  rows: readonly TrialRow[],
): (row: number) => Mark {
  const best = study.best === null ? study.bestTrials.join() : String(study.best.trial);
  return useMemo(() => {
    const numbers = new Set(best.split(",").filter(Boolean).map(Number));
    return (at: number): Mark => {
      const row = rows[at];
      return row === undefined
        ? "other"
        : numbers.has(row.trial)
          ? "best"
          : row.isInfeasible
            ? "infeasible"
            : "other";
    };
  }, [best, rows]);
}
