import { describe, expect, it } from "vitest";
import { isWithin } from "../trials/range.ts";
import { type AxisScale, axisOf } from "./axis.ts";
import { pairsOf } from "./front_view.tsx";
import { nearest, PLOT_HEIGHT, PLOT_WIDTH, plotX, plotY, scatterOf } from "./scatter.ts";

const places = (cells: readonly unknown[], scale: AxisScale = "linear") => [
  ...axisOf("x", cells, scale).at,
];

describe("axisOf", () => {
  it("places numbers in proportion, and leaves out what is missing", () => {
    expect(places([2, 4, 3, undefined])).toEqual([0, 1, 0.5, Number.NaN]);
    expect(places([7, 7])).toEqual([0.5, 0.5]);
    expect(places([])).toEqual([]);
  });

  it("does not overflow between the largest doubles", () => {
    expect(places([-1.7e308, 1.7e308, 0])).toEqual([0, 1, 0.5]);
  });

  it("is logarithmic for positive numbers of different sizes, if it may be", () => {
    expect(axisOf("x", [0.001, 1, 1000], "auto")).toMatchObject({ isLog: true });
    expect(places([0.001, 1, 1000], "auto")[1]).toBeCloseTo(0.5);
    expect(axisOf("x", [0.001, 1, 1000], "linear").isLog).toBe(false);
    expect(axisOf("x", [0, 1000], "auto").isLog).toBe(false);
    expect(axisOf("x", [8, 64], "auto").isLog).toBe(false);
  });

  it("gives texts, None and truth values places of their own, in order", () => {
    expect(places(["b", "a", null, true])).toEqual([1, 2 / 3, 0, 1 / 3]);
    const axis = axisOf("x", ["b", "a", null, true], "auto");
    expect(axis.ticks.map(({ text }) => text)).toEqual(["None", "True", "a", "b"]);
  });

  it("puts what is no number below the numbers", () => {
    const [none, low, high] = places([null, 0.1, 0.9]);
    expect([low, high]).toEqual([0.2, 1]);
    expect(none).toBeLessThan(0.2);
    const [inf] = places([Number.POSITIVE_INFINITY, 0.1, 0.9]);
    expect(inf).toBeLessThan(0.2);
  });

  it("turns places into ranges of values, and back", () => {
    const axis = axisOf("x", [0.001, 1, 1000, null], "auto");
    const { least, most, others } = axis.rangeOf(0.59, 0.61);
    expect([least < 1, most > 1, least > 0.5, most < 2, others.size]).toEqual([
      ...[true, true, true, true, 0],
    ]);
    const span = axis.spanOf({ least, most, others });
    expect(span?.[0]).toBeCloseTo(0.59);
    expect(span?.[1]).toBeCloseTo(0.61);
    const low = axis.rangeOf(0, 0.1);
    expect([0.001, 1, null, undefined].map((cell) => isWithin(low, cell))).toEqual([
      ...[false, false, true, false],
    ]);
    const whole = axis.rangeOf(0, 1);
    expect([0.001, 1000, null].every((cell) => isWithin(whole, cell))).toBe(true);
    expect(axis.spanOf({ least: 2000, most: 3000, others: new Set() })).toBeNull();
  });

  it("chooses a number that is the only one, or does not", () => {
    const axis = axisOf("x", [7, 7], "auto");
    expect(isWithin(axis.rangeOf(0.4, 0.6), 7)).toBe(true);
    expect(isWithin(axis.rangeOf(0.6, 0.9), 7)).toBe(false);
    expect(isWithin(axis.rangeOf(0, 0.1), 7)).toBe(false);
  });

  it("chooses texts by their places", () => {
    const axis = axisOf("x", ["a", "b", "c"], "auto");
    expect([...axis.rangeOf(0.4, 1).others]).toEqual(["b", "c"]);
    expect(axis.spanOf(axis.rangeOf(0.4, 1))).toEqual([0.5, 1]);
  });

  it("labels few numbers as they are, and many by round ones", () => {
    const labels = (cells: readonly unknown[]) =>
      axisOf("x", cells, "linear").ticks.map(({ text }) => text);
    expect(labels([8, 32, 16, 8])).toEqual(["8", "16", "32"]);
    expect(labels([0, 1, 2, 3, 4, 5, 6, 7, 8])).toEqual(["0", "2", "4", "6", "8"]);
    expect(labels([0, 0.001, 1])).toEqual(["0", "1"]);
  });

  it("never has more labels than fit", () => {
    const names = Array.from({ length: 500 }, (_, i) => `name ${i}`);
    expect(axisOf("x", names, "auto").ticks.length).toBeLessThanOrEqual(13);
  });
});

describe("scatterOf", () => {
  it("draws each row that has a place on both axes, by its mark", () => {
    const x = axisOf("x", [0, 1, undefined, 0.5], "linear");
    const y = axisOf("y", [0, 1, 1, undefined], "linear");
    const { count, paths } = scatterOf(x, y, (row) => (row === 1 ? "best" : "other"));
    expect(count).toBe(2);
    expect(paths.best).toBe(`M${plotX(1)} ${plotY(1)}h0`);
    expect(paths.other).toBe(`M${plotX(0)} ${plotY(0)}h0`);
  });

  it("draws dots that would hide each other once, and all that stand alone", () => {
    const cells = Array.from({ length: 100_000 }, (_, i) => (i * 7_919) % 1_000);
    const ups = Array.from({ length: 100_000 }, (_, i) =>
      Math.floor(((i * 7_919) % 100_000) / 1_000),
    );
    const { count, paths } = scatterOf(
      axisOf("x", cells, "linear"),
      axisOf("y", ups, "linear"),
      () => "other",
    );
    expect(count).toBe(100_000);
    expect(paths.other.split("M").length).toBeLessThan((PLOT_WIDTH * PLOT_HEIGHT) / 9);
  });
});

describe("nearest", () => {
  it("finds the dot below the pointer, and none far from all", () => {
    const x = axisOf("x", [0, 1, undefined], "linear");
    const y = axisOf("y", [0, 1, 0], "linear");
    expect(nearest(x, y, 0.01, 0.02)).toBe(0);
    expect(nearest(x, y, 0.99, 0.98)).toBe(1);
    expect(nearest(x, y, 0.5, 0.5)).toBe(-1);
  });
});

describe("pairsOf", () => {
  it("has each pair of objectives once", () => {
    expect(pairsOf(2)).toEqual([[0, 1]]);
    expect(pairsOf(4)).toHaveLength(6);
    expect(pairsOf(1)).toEqual([]);
  });
});
