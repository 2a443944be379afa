// Tests which trials the page shows as the best. The cases are those by which python/tests/optuna/test_best.py compares
// the package, the command line and REST with plain Optuna.

import { describe, expect, it } from "vitest";
import cases from "../../../tests/best/cases.json" with { type: "json" };
import { Formatter } from "../i18n/format.ts";
import { chartOf } from "../ui/chart.ts";
import { studyOf, trialOf } from "./model/rows.ts";
import { bestText, noBestOf } from "./view_model.ts";
import { en } from "./words/en.ts";

const format = new Formatter("en");

interface Case {
  readonly directions: readonly string[];
  readonly trials: readonly { values: readonly (number | string)[]; constraints?: number[] }[];
  readonly best: number | null;
  readonly best_trials: readonly number[];
  readonly code?: string;
}

/** Returns the rows that a server sends for the trials of a case. */
function rowsOf({ trials }: Case) {
  return trials.map(({ values, constraints = [] }, trial) => {
    const isComplete = values.every((value) => value !== "nan");
    return trialOf({
      ...{ study: 1, trial, params: "{}", seed: 1, attempts: 1, seq: trial + 1 },
      ...{ started_at: 1, finished_at: 2, run_ms: 1, load_ms: 0 },
      state: isComplete ? "complete" : "failed",
      values: isComplete ? values : [],
      ...(isComplete && constraints.some((value) => value > 0) ? { infeasible: true } : {}),
    });
  });
}

/** Returns the row of the finished study. */
function studyRowOf(one: Case) {
  const complete = rowsOf(one).filter(({ state }) => state === "complete").length;
  const value = one.best === null ? null : one.trials[one.best]?.values[0];
  return studyOf({
    ...{ study: 1, name: "s", owner: "ada", project: "default", state: "finished" },
    ...{ direction: one.directions[0], total: one.trials.length, complete, pruned: 0 },
    ...{ failed: one.trials.length - complete, running: 0, attempts: one.trials.length },
    ...{ cursor: 9, entry: "m:f", seed: 0, created_at: 1, finished_at: 2, space: [] },
    ...{ runtime: { chainer: "7.8.1" }, bundle: { sha256: "0".repeat(64), bytes: 1 } },
    ...(one.best === null ? {} : { best: { trial: one.best, value, params: "{}" } }),
    ...(one.directions.length > 1
      ? { kind: "asked", directions: one.directions, best_trials: one.best_trials }
      : {}),
  });
}

describe.each(cases as readonly (Case & { name: string })[])("$name", (one) => {
  const study = studyRowOf(one);

  it("is shown as the best, or why there is none", () => {
    expect(noBestOf(study)).toBe(one.code ?? null);
    const shown = bestText(study, en, format);
    if (study.best !== null) {
      expect(study.best.trial).toBe(one.best);
      expect(shown).toBe(format.value(study.best.value));
    } else if (one.code === undefined) {
      expect(study.bestTrials).toEqual(one.best_trials);
      expect(shown).toContain(String(one.best_trials.length));
    } else {
      expect(shown).toBe(en.studies.none);
    }
  });

  it.runIf(one.directions.length === 1)("is where the chart's line of best values ends", () => {
    const rows = rowsOf(one);
    const points = rows.flatMap(({ trial, values }) =>
      values[0] === undefined ? [] : [[trial, values[0]] as const],
    );
    const infeasible = new Set(rows.filter((row) => row.isInfeasible).map((row) => row.trial));
    const chart = chartOf(points, {
      scale: "linear",
      direction: study.direction,
      mayBeBest: (trial) => !infeasible.has(trial),
    });
    if (one.best === null) {
      expect(chart?.best ?? "").toBe("");
      return;
    }
    const at = points.findIndex(([trial]) => trial === one.best);
    const dots = [...(chart?.dots ?? "").matchAll(/M\S+ (\S+)h0/g)].map((match) => match[1]);
    expect([...(chart?.best ?? "").matchAll(/V([\d.]+)/g)].at(-1)?.[1]).toBe(dots[at]);
  });
});
