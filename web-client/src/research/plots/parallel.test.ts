import { describe, expect, it } from "vitest";
import { rangeText } from "../trials/ranges_view.tsx";
import { en } from "../words/en.ts";
import { axisOf } from "./axis.ts";
import {
  AXIS_HEIGHT,
  AXIS_TOP,
  BANDS,
  bandsOf,
  dividedRows,
  layoutOf,
  pathOf,
  placeOfY,
  yOf,
} from "./parallel.ts";

describe("layoutOf", () => {
  it("fills the frame, and is wider where axes would be too near", () => {
    const wide = layoutOf(4, 1_000);
    expect(wide.width).toBe(1_000);
    expect(wide.xs).toHaveLength(4);
    expect(new Set(wide.xs.map((x, i) => x - (wide.xs[i - 1] ?? x))).size).toBeLessThanOrEqual(3);
    expect(layoutOf(12, 330).width).toBeGreaterThan(1_000);
    expect(layoutOf(1, 330)).toEqual({ width: 330, xs: [52] });
    expect(layoutOf(0, 330).xs).toEqual([]);
  });
});

describe("a place on an axis", () => {
  it("is the same after a way there and back, and never off the axis", () => {
    for (const at of [0, 0.25, 1]) {
      expect(placeOfY(yOf(at))).toBeCloseTo(at);
    }
    expect([placeOfY(-100), placeOfY(AXIS_TOP + AXIS_HEIGHT + 100)]).toEqual([1, 0]);
  });
});

describe("pathOf", () => {
  it("draws a line through all axes, with a gap where a trial has no parameter", () => {
    const axes = [
      axisOf("a", [0, 1], "linear"),
      axisOf("b", [0, undefined], "linear"),
      axisOf("c", ["x", "y"], "linear"),
    ];
    expect(pathOf(axes, [10, 20, 30], [0])).toBe(`M10 ${yOf(0)}L20 ${yOf(0.5)}L30 ${yOf(0)}`);
    expect(pathOf(axes, [10, 20, 30], [1])).toBe(`M10 ${yOf(1)}M30 ${yOf(1)}`);
  });
});

describe("bandsOf", () => {
  it("divides all rows evenly, the best last, and the missing first", () => {
    const cells = [...Array.from({ length: 11 }, (_, i) => i), undefined];
    const axis = axisOf("v", cells, "linear");
    const rows = cells.map((_, i) => i);
    const down = bandsOf(rows, axis, "minimize");
    expect(down).toHaveLength(BANDS);
    expect(down.flat().sort((a, b) => a - b)).toEqual(rows);
    expect([down[0], down.at(-1)]).toEqual([
      [11, 10],
      [1, 0],
    ]);
    expect(bandsOf(rows, axis, "maximize").at(-1)).toEqual([9, 10]);
  });
});

describe("dividedRows", () => {
  it("leaves out trials that are not complete", () => {
    const matches = Uint8Array.of(1, 0, 1, 0);
    expect(dividedRows((row) => row !== 2, matches)).toEqual({ matching: [0], others: [1, 3] });
  });
});

describe("rangeText", () => {
  const text = (least: number, most: number, ...others: string[]) =>
    rangeText({ least, most, others: new Set(others) }, en.ranges);

  it("says what is chosen", () => {
    const { POSITIVE_INFINITY: most, NEGATIVE_INFINITY: least } = Number;
    expect(text(0.001234567, 0.5)).toBe("0.001235 to 0.5");
    expect(text(3, most)).toBe("from 3");
    expect(text(least, 3, "None")).toBe("up to 3, None");
    expect(text(least, most)).toBe("any number");
    expect(text(1, 0, "Adam", "SGD")).toBe("Adam, SGD");
    expect(text(Number.NaN, Number.NaN)).toBe("nothing");
  });
});
