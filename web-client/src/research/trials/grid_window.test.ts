import { describe, expect, it } from "vitest";
import { columnWidth, moved, ROW_PX, sampleOf, spanOf, textWidth } from "./grid_window.ts";

describe("spanOf", () => {
  it("draws as few rows of 100,000 trials as of 100, and all that are in view", () => {
    for (const count of [100, 10_000, 100_000]) {
      for (const top of [0, 1, 43, 44, 1_000, count * ROW_PX - 600]) {
        const { first, end } = spanOf(top, 600, count);
        expect(end - first).toBeLessThanOrEqual(Math.ceil(600 / ROW_PX) + 12);
        expect(first).toBeLessThanOrEqual(Math.max(0, Math.floor(top / ROW_PX)));
        expect(end).toBeGreaterThanOrEqual(Math.min(count, Math.ceil((top + 600) / ROW_PX)));
      }
    }
  });

  it("is empty without rows, and inside of the rows where they became fewer", () => {
    expect(spanOf(0, 600, 0)).toEqual({ first: 0, end: 0 });
    expect(spanOf(90_000, 600, 3)).toEqual({ first: 2, end: 3 });
    expect(spanOf(-50, 600, 3)).toEqual({ first: 0, end: 3 });
  });
});

describe("the width of a column", () => {
  it("follows its texts, within limits", () => {
    expect(textWidth("abc")).toBe(3);
    expect(textWidth("状態")).toBe(4);
    expect(columnWidth("x", ["1"])).toBe(7);
    expect(columnWidth("x", ["0.04133"])).toBe(10);
    expect(columnWidth("x".repeat(90), [])).toBe(26);
  });

  it("is chosen by few rows of many", () => {
    const rows = Array.from({ length: 100_000 }, (_, i) => i);
    const sample = sampleOf(rows, 60);
    expect(sample.length).toBeLessThanOrEqual(60);
    expect(sample.at(-1)).toBeGreaterThan(95_000);
    expect(sampleOf([1, 2], 60)).toEqual([1, 2]);
  });
});

describe("moved", () => {
  const size = { rows: 50, columns: 4, page: 10 };
  const press = (key: string, row: number, column: number, ctrlKey = false) => {
    const to = moved({ row, column }, { key, ctrlKey, metaKey: false }, size);
    return to === null ? null : [to.row, to.column];
  };

  it("moves by cells, by pages, and to the ends, and never out of the grid", () => {
    expect(press("ArrowDown", 0, 0)).toEqual([1, 0]);
    expect(press("ArrowDown", 49, 0)).toEqual([49, 0]);
    expect(press("ArrowUp", 0, 2)).toEqual([-1, 2]);
    expect(press("ArrowUp", -1, 2)).toEqual([-1, 2]);
    expect(press("ArrowLeft", 3, 0)).toEqual([3, 0]);
    expect(press("ArrowRight", 3, 3)).toEqual([3, 3]);
    expect(press("PageDown", 45, 1)).toEqual([49, 1]);
    expect(press("PageUp", 5, 1)).toEqual([0, 1]);
    expect(press("Home", 5, 3)).toEqual([5, 0]);
    expect(press("End", 5, 0)).toEqual([5, 3]);
    expect(press("Home", 5, 3, true)).toEqual([0, 0]);
    expect(press("End", 5, 0, true)).toEqual([49, 3]);
  });

  it("leaves other keys alone", () => {
    expect(press("Tab", 0, 0)).toBeNull();
    expect(press("a", 0, 0)).toBeNull();
  });
});
