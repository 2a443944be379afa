import { describe, expect, it } from "vitest";
import { CHART_HEIGHT, CHART_WIDTH } from "./chart.ts";
import { linesOf } from "./lines.ts";

const movesOf = (path: string) => path.match(/M/g)?.length ?? 0;

describe("linesOf", () => {
  it("is null without a finite value", () => {
    expect(linesOf([])).toBeNull();
    expect(linesOf([[], [[0, Number.NaN]]])).toBeNull();
  });

  it("draws all lines in the frame of the smallest and the largest value", () => {
    const chart = linesOf([
      [
        [0, 1],
        [10, 2],
      ],
      [
        [5, -3],
        [20, 4],
      ],
    ]);
    expect(chart).toMatchObject({ count: 4, minValue: -3, maxValue: 4, best: "", dots: "" });
    expect(movesOf(chart?.lines.join("") ?? "")).toBe(2);
    expect(chart?.lines.join("")).toContain(`L${CHART_WIDTH - 8} 8`);
    expect(chart?.lines.join("")).toContain(` ${CHART_HEIGHT - 8}L`);
  });

  it("leaves a gap where a value is not finite, and shows a lonely value as a dot", () => {
    const chart = linesOf([
      [
        [0, 1],
        [1, 2],
        [2, Number.NaN],
        [3, Number.POSITIVE_INFINITY],
        [4, 1],
        [5, Number.NEGATIVE_INFINITY],
        [6, 3],
        [7, 4],
      ],
    ]);
    expect(movesOf(chart?.lines.join("") ?? "")).toBe(2);
    expect(movesOf(chart?.dots ?? "")).toBe(1);
    expect(chart?.count).toBe(5);
  });

  it("draws one line on its own", () => {
    const line = [
      [0, 0],
      [1, 1],
    ] as const;
    const chart = linesOf([line, line, line], { marked: 1 });
    expect(movesOf(chart?.lines.join("") ?? "")).toBe(2);
    expect(movesOf(chart?.best ?? "")).toBe(1);
  });

  it("draws a hundred thousand points in the time of a blink", () => {
    const lines = Array.from({ length: 1_000 }, (_, i) =>
      Array.from({ length: 100 }, (_, x) => [x, Math.sin(x + i)] as const),
    );
    expect(linesOf(lines)?.count).toBe(100_000);
  });

  it("has a gap where a logarithmic scale has no place", () => {
    const line = [1, 0, 10, 100, -1, 1].map((value, step) => [step, value] as const);
    const chart = linesOf([line], { scale: "log" });
    expect(chart).toMatchObject({ count: 4, minValue: 1, maxValue: 100 });
    expect(movesOf(chart?.lines.join("") ?? "")).toBe(1);
    expect(movesOf(chart?.dots ?? "")).toBe(2);
    expect(linesOf([[[0, -1]]], { scale: "log" })).toBeNull();
  });

  it("draws faint lines in the frame of the others", () => {
    const [flat, steep] = [
      [1, 2],
      [-50, 50],
    ].map((values) => values.map((value, step) => [step, value] as const));
    const chart = linesOf([flat ?? []], { faint: [steep ?? []] });
    expect([chart?.minValue, chart?.maxValue, chart?.count]).toEqual([1, 2, 2]);
    expect(movesOf(chart?.faint?.join("") ?? "")).toBe(1);
  });
});
