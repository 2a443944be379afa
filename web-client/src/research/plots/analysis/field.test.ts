import { describe, expect, it } from "vitest";
import { fieldOf, regionAbove } from "./field.ts";

const place = (x: number, y: number) => [Math.round(x * 1e4), Math.round(y * 1e4)] as const;

/** Returns the area of a path's parts, in squares with sides of 1. Parts that turn the other way would be subtracted. */
function areaOf(path: string): number {
  return path
    .split("M")
    .slice(1)
    .map((part) =>
      part
        .replace("z", "")
        .split("L")
        .map((pair) => pair.split(" ").map(Number)),
    )
    .reduce((sum, corners) => {
      const twice = corners.reduce((total, [x = 0, y = 0], i) => {
        const [nextX = 0, nextY = 0] = corners[(i + 1) % corners.length] ?? [];
        return total + x * nextY - nextX * y;
      }, 0);
      return sum + twice / 2e8;
    }, 0);
}

describe("fieldOf", () => {
  it("goes through trials, stays between them, and needs one", () => {
    const field = fieldOf([
      { x: 0, y: 0, height: 1 },
      { x: 1, y: 1, height: 3 },
    ]);
    expect([field?.least, field?.most]).toEqual([1, 3]);
    expect([field?.heights[0], field?.heights.at(-1)]).toEqual([1, 3]);
    const middle = field?.heights[20 * 57 + 28] ?? 0;
    expect(middle).toBeCloseTo(2);
    expect(fieldOf([])).toBeNull();
  });

  it("keeps the best of trials that lie together, however many", () => {
    const many = Array.from({ length: 100_000 }, (_, i) => ({
      ...{ x: (i % 317) / 316, y: (i % 211) / 210, height: i === 77_777 ? 9 : 1 },
    }));
    const field = fieldOf(many);
    expect(field?.most).toBeGreaterThan(3);
    expect(field?.least).toBeLessThan(2);
  });
});

describe("regionAbove", () => {
  const slope = {
    ...{ across: 3, up: 2, least: 0, most: 2 },
    heights: Float64Array.from([0, 1, 2, 0, 1, 2]),
  };

  it("is the part of the plot where the surface is at least so high", () => {
    expect(areaOf(regionAbove(slope, 0, place))).toBeCloseTo(1);
    expect(areaOf(regionAbove(slope, 0.5, place))).toBeCloseTo(0.75);
    expect(areaOf(regionAbove(slope, 1, place))).toBeCloseTo(0.5);
    expect(areaOf(regionAbove(slope, 1.5, place))).toBeCloseTo(0.25);
    expect(regionAbove(slope, 2.1, place)).toBe("");
  });

  it("gives each cell one part, and those of a row that are whole one together", () => {
    expect(regionAbove(slope, 0, place)).toBe("M0 0L10000 0L10000 10000L0 10000z");
    expect(regionAbove(slope, 0.5, place).split("M")).toHaveLength(3);
  });
});
