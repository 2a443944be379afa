import { describe, expect, it } from "vitest";
import { paramsOf } from "../model/params.ts";
import type { TrialRow } from "../model/rows.ts";
import { type Column, cellReader } from "./columns.ts";
import { byNumber, keysOf, ordered, sortAfterPress } from "./order.ts";
import { manyTrials, trial } from "./trial.fixture.ts";

const VALUE: Column = { kind: "value", index: 0 };

function numbers(trials: readonly TrialRow[], column: Column, descending = false) {
  const keys = keysOf(trials, cellReader(column));
  return [...ordered(byNumber(trials), keys, descending)].map((place) => trials[place]?.trial);
}

describe("ordered", () => {
  it("sorts numbers as numbers, both ways", () => {
    const trials = [9, -1, 10].map((value, i) => trial(i, { values: [value] }));
    expect(numbers(trials, VALUE)).toEqual([1, 0, 2]);
    expect(numbers(trials, VALUE, true)).toEqual([2, 0, 1]);
  });

  it("puts what is missing last in either order", () => {
    const trials = [trial(0, { values: [] }), trial(1), trial(2, { values: [] }), trial(3)];
    expect(numbers(trials, VALUE)).toEqual([1, 3, 0, 2]);
    expect(numbers(trials, VALUE, true)).toEqual([3, 1, 0, 2]);
  });

  it("sorts mixed kinds: numbers, booleans, texts, null", () => {
    const raw = ["null", '"b"', "true", "2.5", '"a"', "false", "10"];
    const trials = raw.map((text, i) => trial(i, { params: paramsOf(`{"x": ${text}}`) }));
    expect(numbers(trials, { kind: "param", name: "x" })).toEqual([3, 6, 5, 2, 4, 1, 0]);
  });

  it("has a place for NaN and the infinities, so that the order is one", () => {
    const cells = [Number.NaN, 1, Number.POSITIVE_INFINITY, Number.NaN, Number.NEGATIVE_INFINITY];
    const trials = cells.map((value, i) => trial(i, { values: [value] }));
    expect(numbers(trials, VALUE)).toEqual([4, 1, 2, 0, 3]);
  });

  it("keeps equal ones in the order of their numbers, both ways", () => {
    const trials = [2, 0, 1].map((number) => trial(number, { values: [5] }));
    expect(numbers(trials, VALUE)).toEqual([0, 1, 2]);
    expect(numbers(trials, VALUE, true)).toEqual([0, 1, 2]);
  });

  it("reads each of 100,000 cells once, and compares numbers alone", () => {
    const trials = manyTrials(100_000);
    let reads = 0;
    const read = cellReader({ kind: "param", name: "optimizer" });
    const keys = keysOf(trials, (row) => {
      reads += 1;
      return read(row);
    });
    const places = ordered(byNumber(trials), keys, false);
    expect(reads).toBe(100_000);
    expect(new Set(keys.numbers)).toEqual(new Set([0, 1, 2]));
    const texts = [...places].map((place) => String(read(trials[place] as TrialRow)));
    expect(texts).toEqual([...texts].sort());
  });
});

describe("sortAfterPress", () => {
  it("begins with the best value and turns with each further press", () => {
    const maximized = new Set(["value:0"]);
    const first = sortAfterPress({ key: "trial", descending: false }, "value:0", maximized);
    expect(first).toEqual({ key: "value:0", descending: true });
    expect(sortAfterPress(first, "value:0", maximized).descending).toBe(false);
    expect(sortAfterPress(first, "run", maximized)).toEqual({ key: "run", descending: false });
    expect(sortAfterPress(first, "value:1", maximized).descending).toBe(false);
  });
});
