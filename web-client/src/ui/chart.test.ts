import { describe, expect, it } from "vitest";
import { CHART_HEIGHT, CHART_WIDTH, canBeLogarithmic, chartOf, roundTicks } from "./chart.ts";
import type { Point } from "./curve.ts";

const plain = { scale: "linear", direction: null } as const;

function places(path: string): [number, number][] {
  return [...path.matchAll(/(?:M|L)(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [
    Number(x),
    Number(y),
  ]);
}

describe("roundTicks", () => {
  it("are 1, 2, 5 times a power of ten, inside the range", () => {
    expect(roundTicks(0, 1, 4)).toEqual([0, 0.5, 1]);
    expect(roundTicks(0.13, 0.87, 5)).toEqual([0.2, 0.4, 0.6, 0.8]);
    expect(roundTicks(-3, 12, 4)).toEqual([0, 5, 10]);
    expect(roundTicks(0, 0.3, 3)).toEqual([0, 0.1, 0.2, 0.3]);
  });

  it("is the value itself where all are equal", () => {
    expect(roundTicks(7, 7, 4)).toEqual([7]);
  });
});

describe("chartOf", () => {
  it("is null without a finite point", () => {
    expect(chartOf([], plain)).toBeNull();
    expect(chartOf([[0, Number.NaN]], plain)).toBeNull();
  });

  it("draws in the order of x, large values on top", () => {
    const chart = chartOf(
      [
        [2, 0],
        [0, 4],
        [1, 2],
      ],
      plain,
    );
    expect(places(chart?.lines.join("") ?? "")).toEqual([
      [8, 8],
      [CHART_WIDTH / 2, CHART_HEIGHT / 2],
      [CHART_WIDTH - 8, CHART_HEIGHT - 8],
    ]);
    expect(chart).toMatchObject({ count: 3, minValue: 0, maxValue: 4, best: "" });
  });

  it("puts ticks where it puts points of the same number", () => {
    const chart = chartOf(
      [
        [0, 0],
        [10, 1],
      ],
      plain,
    );
    const [low, high] = places(chart?.lines.join("") ?? "");
    const ends = (ticks: readonly { at: number }[] = []) => [ticks[0]?.at, ticks.at(-1)?.at];
    const [left, right] = ends(chart?.xTicks);
    expect((left ?? 0) * CHART_WIDTH).toBeCloseTo(low?.[0] ?? 0, 6);
    expect((right ?? 0) * CHART_WIDTH).toBeCloseTo(high?.[0] ?? 0, 6);
    const [bottom, top] = ends(chart?.yTicks);
    expect(CHART_HEIGHT * (1 - (bottom ?? 0))).toBeCloseTo(low?.[1] ?? 0, 6);
    expect(CHART_HEIGHT * (1 - (top ?? 0))).toBeCloseTo(high?.[1] ?? 0, 6);
  });

  it("follows the best value so far, either way", () => {
    const points: Point[] = [
      [0, 3],
      [1, 1],
      [2, 2],
      [3, 0],
    ];
    const heights = (direction: "minimize" | "maximize") =>
      [...(chartOf(points, { scale: "linear", direction })?.best ?? "").matchAll(/V([\d.]+)/g)].map(
        ([, y]) => Number(y),
      );
    expect(heights("minimize")).toEqual([8, 157.33, 232]);
    expect(heights("maximize")).toEqual([8]);
  });

  it("spreads powers of ten evenly on the logarithmic scale", () => {
    const chart = chartOf(
      [
        [0, 0.01],
        [1, 1],
        [2, 100],
      ],
      { scale: "log", direction: null },
    );
    expect(places(chart?.lines.join("") ?? "").map(([, y]) => y)).toEqual([232, 120, 8]);
    expect(chart?.yTicks.map(({ value }) => value)).toEqual([0.01, 0.1, 1, 10, 100]);
  });

  it("draws what has no logarithm on the linear scale", () => {
    const points: Point[] = [
      [0, 0],
      [1, 5],
    ];
    expect(canBeLogarithmic(points)).toBe(false);
    expect(chartOf(points, { scale: "log", direction: null })?.yTicks[0]?.value).toBe(0);
  });

  it("keeps every place inside the box, whatever finite numbers come", () => {
    const extreme: Point[] = [
      [0, -Number.MAX_VALUE],
      [1, Number.MAX_VALUE],
      [Number.MAX_SAFE_INTEGER, 5e-324],
      [2, 0],
    ];
    const chart = chartOf(extreme, { scale: "linear", direction: "minimize" });
    for (const [x, y] of places(chart?.lines.join("") ?? "")) {
      expect(x).toBeGreaterThanOrEqual(8);
      expect(x).toBeLessThanOrEqual(CHART_WIDTH - 8);
      expect(y).toBeGreaterThanOrEqual(8);
      expect(y).toBeLessThanOrEqual(CHART_HEIGHT - 8);
    }
    expect(chart?.xTicks.every(({ at }) => at >= 0 && at <= 1)).toBe(true);
  });

  it("shows one point in the middle", () => {
    const chart = chartOf([[5, 7]], { scale: "linear", direction: "maximize" });
    expect(places(chart?.dots ?? "")).toEqual([[CHART_WIDTH / 2, CHART_HEIGHT / 2]]);
    expect(chart?.xTicks).toEqual([{ value: 5, at: 0.5 }]);
  });
});
