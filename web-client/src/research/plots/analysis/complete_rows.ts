// What all plots of objective values begin with: the complete trials in the order of their numbers, and one objective of them.
// Page thread; pure.

import type { Param } from "../../model/params.ts";
import type { TrialRow } from "../../model/rows.ts";
import { otherText } from "../../trials/range.ts";

/** Returns the complete trials by number, as `Study.get_trials` does. */
export function completeRows(rows: readonly TrialRow[]): readonly TrialRow[] {
  return rows.filter(({ state }) => state === "complete").sort((a, b) => a.trial - b.trial);
}

/** Returns those whose objective is a finite number. Optuna leaves the others out of most plots. */
export function finiteRows(rows: readonly TrialRow[], objective: number): readonly TrialRow[] {
  return rows.filter(({ exactValues }) => Number.isFinite(exactValues[objective]));
}

/** Compares texts by their code points, as Python does; `<` compares UTF-16 units. */
export function byCodePoint(a: string, b: string): number {
  const [one, other] = [[...a], [...b]];
  for (let i = 0; i < Math.min(one.length, other.length); i += 1) {
    const difference = (one[i]?.codePointAt(0) ?? 0) - (other[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return one.length - other.length;
}

const NOT_FINITE: ReadonlyMap<string, string> = new Map([
  ["NaN", "nan"],
  ["Infinity", "inf"],
  ["-Infinity", "-inf"],
]);

/** Returns a parameter as Python's `str` writes it. */
export function pythonText({ raw, value }: Param): string {
  return typeof value === "number" ? (NOT_FINITE.get(raw) ?? raw) : otherText(value);
}
