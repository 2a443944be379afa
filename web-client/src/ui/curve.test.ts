import { describe, expect, it } from "vitest";
import { CURVE_HEIGHT, CURVE_WIDTH, curveOf, type Point } from "./curve.ts";

function places(path: string): [number, number][] {
  return path
    .slice(1)
    .split("L")
    .map((place) => place.split(" ").map(Number) as [number, number]);
}

describe("curveOf", () => {
  it("is null without a finite point", () => {
    expect(curveOf([])).toBeNull();
    expect(curveOf([[0, Number.NaN]])).toBeNull();
  });

  it("puts the largest value on top and the first step on the left", () => {
    const curve = curveOf([
      [10, 2],
      [20, 0],
      [30, 1],
    ]);
    expect(places(curve?.path ?? "")).toEqual([
      [6, 6],
      [CURVE_WIDTH / 2, CURVE_HEIGHT - 6],
      [CURVE_WIDTH - 6, CURVE_HEIGHT / 2],
    ]);
    expect(curve).toMatchObject({
      minValue: 0,
      maxValue: 2,
      firstStep: 10,
      lastStep: 30,
      firstValue: 2,
      lastValue: 1,
      count: 3,
    });
  });

  it("shows one point as a dot in the middle", () => {
    expect(curveOf([[5, 7]])?.path).toBe(`M${CURVE_WIDTH / 2} ${CURVE_HEIGHT / 2}h0`);
  });

  it("keeps every place inside the box, whatever finite numbers come", () => {
    const extreme: Point[] = [
      [0, -Number.MAX_VALUE],
      [1, Number.MAX_VALUE],
      [Number.MAX_SAFE_INTEGER, 5e-324],
      [2, 0],
    ];
    for (const [x, y] of places(curveOf(extreme)?.path ?? "")) {
      expect(x).toBeGreaterThanOrEqual(6);
      expect(x).toBeLessThanOrEqual(CURVE_WIDTH - 6);
      expect(y).toBeGreaterThanOrEqual(6);
      expect(y).toBeLessThanOrEqual(CURVE_HEIGHT - 6);
    }
  });

  it("leaves out what is not finite", () => {
    const curve = curveOf([
      [0, 1],
      [1, Number.POSITIVE_INFINITY],
      [2, 3],
    ]);
    expect(curve?.count).toBe(2);
    expect(curve?.maxValue).toBe(3);
  });
});
