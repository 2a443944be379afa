// What dots of trials share: the text about the one near the pointer, and how it opens. Page thread.

import type { StudyRow, TrialRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";

/** Returns the text about the trial that the pointer is near. */
export function nearText(row: TrialRow | undefined, store: ResearchStore): string {
  const words = store.words.value;
  const format = store.format.value;
  return row === undefined
    ? ""
    : words.front.near(
        words.trial.heading(format.integer(row.trial)),
        row.values.map((one) => format.value(one)).join(", "),
      );
}

/** Opens the page of a trial. */
export function openTrial(study: StudyRow, row: TrialRow | undefined, store: ResearchStore): void {
  if (row !== undefined) {
    store.goTo({ page: "trial", study: study.study, trial: row.trial });
  }
}
