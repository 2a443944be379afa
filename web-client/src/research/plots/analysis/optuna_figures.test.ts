// Compares the numbers of the page's plots with those of Optuna's own. python/tests/optuna/test_figures.py makes the cases,
// and checks that Optuna still draws them so.

import { describe, expect, it } from "vitest";
import cases from "../../../../../tests/figures/golden/cases.json" with { type: "json" };
import { trialOf } from "../../model/rows.ts";
import { completeRows, finiteRows } from "./complete_rows.ts";
import { contourAxis, contourOf } from "./contour.ts";
import { edfOf } from "./edf.ts";
import { hypervolumeHistory } from "./hypervolume.ts";
import { importancesOf } from "./importance.ts";
import { rankShares } from "./rank.ts";

type Numbers = readonly (number | string)[];

interface Case {
  readonly name: string;
  readonly directions: readonly ("minimize" | "maximize")[];
  readonly reference: readonly number[] | null;
  readonly trials: readonly Readonly<Record<string, unknown>>[];
  readonly figures: {
    readonly objectives: readonly {
      readonly edf: { readonly xs: Numbers; readonly shares: Numbers } | null;
      readonly rank: Numbers;
      readonly importance: Readonly<Record<string, number>>;
    }[];
    readonly contour?: readonly {
      readonly params: readonly string[];
      readonly x: Numbers;
      readonly y: Numbers;
      readonly z: readonly (readonly number[])[];
    }[];
    readonly hypervolume?: { readonly trials: readonly number[]; readonly values: Numbers };
  };
}

/** Returns the rows as the page reads them. They come in the order in which trials finish, here the last one first. */
function rowsOf({ trials }: Case) {
  return trials
    .map((row, i) =>
      trialOf({
        ...{ study: 1, seed: 1, attempts: 1, seq: i + 1 },
        ...{ started_at: 1, finished_at: 2, run_ms: 1, load_ms: 0 },
        ...row,
      }),
    )
    .toReversed();
}

/** Compares numbers to 9 digits. Texts and the names of infinities must be the same. */
function expectSame(have: Iterable<number | string>, want: Numbers) {
  const found = [...have];
  expect(found).toHaveLength(want.length);
  found.forEach((one, i) => {
    const other = want[i] as number | string;
    if (typeof one === "number" && typeof other === "number" && one !== other) {
      expect(Math.abs(one - other)).toBeLessThanOrEqual(1e-9 * Math.abs(other));
    } else {
      expect(one).toBe(other);
    }
  });
}

describe.each(cases as unknown as readonly Case[])("$name", (one) => {
  const complete = completeRows(rowsOf(one));

  it.each(one.figures.objectives.map((figure, i) => ({ figure, i })))(
    "has Optuna's distribution and ranks of objective $i",
    ({ figure, i }) => {
      const edf = edfOf(finiteRows(complete, i).map(({ exactValues }) => exactValues[i] as number));
      expect(edf === null).toBe(figure.edf === null);
      expectSame(edf?.xs ?? [], figure.edf?.xs ?? []);
      expectSame(edf?.shares ?? [], figure.edf?.shares ?? []);
      expectSame(
        rankShares(complete.map(({ exactValues }) => exactValues[i] as number)),
        figure.rank,
      );
    },
  );

  it.each(one.figures.objectives.map((figure, i) => ({ figure, i })))(
    "has Optuna's importance of each parameter for objective $i",
    ({ figure, i }) => {
      const found = importancesOf(complete, i, one.directions[i] ?? "minimize");
      const want = figure.importance;
      expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(want).sort());
      expectSame(
        found.map(({ raw }) => raw),
        found.map(({ name }) => want[name] ?? Number.NaN),
      );
      expect(found.every(({ raw }, at) => raw <= (found[at - 1]?.raw ?? raw))).toBe(true);
      const sum = found.reduce((total, { share }) => total + share, 0);
      expect(sum).toBeCloseTo(found.length === 0 ? 0 : 1);
    },
  );

  it.runIf(one.reference !== null)("has Optuna's history of the hypervolume", () => {
    const history = hypervolumeHistory(complete, one.directions, one.reference ?? []);
    expect(history.isCut).toBe(false);
    expect(history.trials).toEqual(one.figures.hypervolume?.trials);
    expectSame(history.values, one.figures.hypervolume?.values ?? []);
  });

  it.each(one.figures.contour ?? [])("has Optuna's contour of $params", (figure) => {
    const [x = "", y = ""] = figure.params;
    const direction = one.directions[0] ?? "minimize";
    const rows = finiteRows(complete, 0);
    const axes = [contourAxis(rows, x, new Map()), contourAxis(rows, y, new Map())] as const;
    const found = contourOf(rows, axes, 0, direction);
    if (figure.z.length === 0) {
      expect(found.cells).toEqual([]);
      return;
    }
    expectSame(found.x.places, figure.x);
    expectSame(found.y.places, figure.y);
    const cells = found.cells.toSorted((a, b) => a[1] - b[1] || a[0] - b[0]);
    expectSame(cells.flat(), figure.z.flat());
  });
});
