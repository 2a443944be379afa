// Makes rows of trials for tests.

import type { TrialRow } from "../model/rows.ts";

export function trial(number: number, rest: Partial<TrialRow> = {}): TrialRow {
  return {
    trial: number,
    state: "complete",
    params: [],
    distributions: new Map(),
    seed: 0,
    isInfeasible: false,
    values: [number],
    exactValues: rest.values ?? [number],
    attempts: 1,
    device: null,
    startedAt: 0,
    finishedAt: 0,
    runMs: 0,
    loadMs: 0,
    seq: number,
    codeVersion: 1,
    error: null,
    summary: [],
    attributes: [],
    ...rest,
  };
}

/** Returns trials of a study with five parameters, in an order in which devices could finish them. */
export function manyTrials(count: number): readonly TrialRow[] {
  return Array.from({ length: count }, (_, i) => {
    // 7,919 is a prime, so each number below a count that it does not divide comes once.
    const number = (i * 7_919) % count;
    const params = [
      ["lr", 10 ** (-1 - (number % 5))],
      ["width", 8 * (1 + (number % 13))],
      ["optimizer", ["Adam", "SGD", "RMSprop"][number % 3]],
      ["drop", number % 4 === 0 ? null : (number % 97) / 97],
      ["augment", number % 2 === 0],
    ] as const;
    return trial(number, {
      params: params.map(([name, value]) => ({ name, raw: JSON.stringify(value), value })),
      values: number % 50 === 7 ? [] : [Math.sin(number * 12.9898) * 43_758.5453],
      state: number % 50 === 7 ? "failed" : "complete",
      seq: i + 1,
    });
  });
}
