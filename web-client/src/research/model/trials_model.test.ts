import { describe, expect, it } from "vitest";
import { paramsOf } from "./params.ts";
import type { TrialRow } from "./rows.ts";
import { columnKey, columnsOf, ROWS_PER_PAGE, sortAfterPress, tableView } from "./trials_model.ts";

function trial(number: number, rest: Partial<TrialRow> = {}): TrialRow {
  return {
    trial: number,
    state: "complete",
    params: [],
    seed: 0,
    isInfeasible: false,
    values: [number],
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

function numbers(
  trials: readonly TrialRow[],
  key: string,
  descending = false,
  names: readonly string[] = [],
) {
  const view = tableView({ trials, names, filter: "all", sort: { key, descending }, page: 0 });
  return view.rows.map((row) => row.trial);
}

describe("columnsOf", () => {
  it("has the space's names first, then others that trials bring, and one column a value", () => {
    const trials = [trial(0, { params: paramsOf('{"b": 1, "c": 2}'), values: [1, 2] })];
    expect(columnsOf(["a", "b"], trials).map(columnKey)).toEqual([
      ...["trial", "state", "value:0", "value:1"],
      ...["param:a", "param:b", "param:c"],
      ...["device", "run", "attempts", "finished"],
    ]);
    expect(columnsOf([], []).map(columnKey)).toContain("value:0");
  });
});

describe("tableView", () => {
  it("sorts numbers as numbers, both ways", () => {
    const trials = [
      trial(0, { values: [9] }),
      trial(1, { values: [-1] }),
      trial(2, { values: [10] }),
    ];
    expect(numbers(trials, "value:0")).toEqual([1, 0, 2]);
    expect(numbers(trials, "value:0", true)).toEqual([2, 0, 1]);
  });

  it("puts what is missing last in either order", () => {
    const trials = [trial(0, { values: [] }), trial(1), trial(2, { values: [] }), trial(3)];
    expect(numbers(trials, "value:0")).toEqual([1, 3, 0, 2]);
    expect(numbers(trials, "value:0", true)).toEqual([3, 1, 0, 2]);
  });

  it("sorts mixed kinds: numbers, booleans, strings, null", () => {
    const raw = ["null", '"b"', "true", "2.5", '"a"', "false", "10"];
    const trials = raw.map((text, i) => trial(i, { params: paramsOf(`{"x": ${text}}`) }));
    expect(numbers(trials, "param:x", false, ["x"])).toEqual([3, 6, 5, 2, 4, 1, 0]);
  });

  it("keeps equal ones in the order of their numbers", () => {
    const trials = [2, 0, 1].map((number) => trial(number, { values: [5] }));
    expect(numbers(trials, "value:0")).toEqual([0, 1, 2]);
    expect(numbers(trials, "value:0", true)).toEqual([0, 1, 2]);
  });

  it("falls back to the trial's number for a column that is not there", () => {
    expect(numbers([trial(1), trial(0)], "param:gone")).toEqual([0, 1]);
  });

  it("shows one state alone", () => {
    const trials = [trial(0), trial(1, { state: "failed" })];
    const view = tableView({
      trials,
      names: [],
      filter: "failed",
      sort: { key: "trial", descending: false },
      page: 0,
    });
    expect(view).toMatchObject({ matching: 1, pages: 1, rows: [{ trial: 1 }] });
  });

  it("cuts pages, and never shows one that is not there", () => {
    const trials = Array.from({ length: ROWS_PER_PAGE + 1 }, (_, i) => trial(i));
    const at = (page: number) =>
      tableView({
        trials,
        names: [],
        filter: "all",
        sort: { key: "trial", descending: false },
        page,
      });
    expect([at(0).rows.length, at(1).rows.length]).toEqual([ROWS_PER_PAGE, 1]);
    expect([at(7).page, at(-1).page]).toEqual([1, 0]);
    expect(at(0).pages).toBe(2);
  });

  it("leaves the rows that it was given as they were", () => {
    const trials = [trial(1), trial(0)];
    numbers(trials, "trial");
    expect(trials.map((row) => row.trial)).toEqual([1, 0]);
  });
});

describe("sortAfterPress", () => {
  it("begins with the best value and turns with each further press", () => {
    const first = sortAfterPress({ key: "trial", descending: false }, "value:0", "maximize");
    expect(first).toEqual({ key: "value:0", descending: true });
    expect(sortAfterPress(first, "value:0", "maximize").descending).toBe(false);
    expect(sortAfterPress(first, "run", "maximize")).toEqual({ key: "run", descending: false });
    expect(sortAfterPress(first, "value:1", "minimize").descending).toBe(false);
  });
});
