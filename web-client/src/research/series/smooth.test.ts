import { describe, expect, it } from "vitest";
import { framed } from "../../ui/chart.ts";
import type { Point } from "../../ui/curve.ts";
import { nearestLine, shortened, smoothed } from "./smooth.ts";

const line = (...values: number[]): Point[] => values.map((value, i) => [i, value]);

describe("smoothed", () => {
  it("is a mean of the values so far, corrected at its begin", () => {
    expect(smoothed(line(1, 2), 0)).toEqual(line(1, 2));
    const [first, second] = smoothed(line(4, 8), 0.5);
    expect(first?.[1]).toBeCloseTo(4);
    // (0.5 * (0.5 * 4) + 0.5 * 8) / (1 - 0.25)
    expect(second?.[1]).toBeCloseTo(20 / 3);
    expect(smoothed(line(3, 3, 3, 3), 0.9).every(([, value]) => Math.abs(value - 3) < 1e-12)).toBe(
      true,
    );
  });

  it("goes on after a value that is not finite", () => {
    const [, gap, after] = smoothed(line(1, Number.NaN, 1), 0.9);
    expect(gap?.[1]).toBeNaN();
    expect(after?.[1]).toBeCloseTo(1);
  });
});

describe("shortened", () => {
  it("keeps short lines, both ends and every extreme", () => {
    expect(shortened(line(1, 2, 3), 8)).toEqual(line(1, 2, 3));
    const long = line(
      ...Array.from({ length: 1_000 }, (_, i) => (i === 500 ? 99 : i === 501 ? -99 : i % 2)),
    );
    const short = shortened(long, 40);
    expect(short.length).toBeLessThanOrEqual(40);
    expect([short[0], short.at(-1)]).toEqual([long[0], long.at(-1)]);
    const values = short.map(([, value]) => value);
    expect([Math.max(...values), Math.min(...values)]).toEqual([99, -99]);
    expect(short.map(([step]) => step)).toEqual(short.map(([step]) => step).sort((a, b) => a - b));
  });
});

describe("nearestLine", () => {
  it("is the line below the pointer, also between two points, and none far from all", () => {
    const lines = [line(0, 0), line(10, 10), line(Number.NaN, 5)];
    const frame = framed([...line(0, 0), ...line(10, 10)], "linear");
    if (frame === null) throw new Error("no frame");
    const at = (x: number, y: number) =>
      nearestLine(lines, frame, frame.placeX(x), frame.placeY(y));
    expect(at(0.4, 0.1)).toEqual({ line: 0, point: [0, 0] });
    expect(at(0.6, 9.9)).toEqual({ line: 1, point: [1, 10] });
    expect(at(0.5, 5)).toBeNull();
  });
});
