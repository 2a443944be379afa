// Computes the geometry of a chart with two axes: paths through points in a fixed box, and round numbers for the ticks.
// Page thread; pure.

import type { Point } from "./curve.ts";

export const CHART_WIDTH = 640;
export const CHART_HEIGHT = 240;
/** The free space at each edge of the chart, so that dots there are whole; in the same units as the width. */
const MARGIN = 8;

export type Scale = "linear" | "log";

export interface Tick {
  readonly value: number;
  /** The position along the axis, from 0 (left or bottom) to 1. */
  readonly at: number;
}

export interface Chart {
  /** A path with one dot for each point. Each dot is a line without length and with round caps. */
  readonly dots: string;
  /** Paths of the lines, each of a few lines: browsers take much longer to draw one long path. */
  readonly lines: readonly string[];
  /** Paths of lines that are drawn faintly below all others. */
  readonly faint?: readonly string[];
  /** The path of the best value so far, as a stepped line, or of a marked line; empty if there is neither. */
  readonly best: string;
  readonly xTicks: readonly Tick[];
  readonly yTicks: readonly Tick[];
  readonly count: number;
  readonly minValue: number;
  readonly maxValue: number;
}

export interface ChartOptions {
  readonly scale: Scale;
  readonly direction: "minimize" | "maximize" | null;
  /** Whether the point at `x` may be the best one. Without this function every point may be. */
  readonly mayBeBest?: (x: number) => boolean;
}

/** Returns about `wanted` round numbers in from..to. They are multiples of 1, 2 or 5 times a power of ten. */
export function roundTicks(from: number, to: number, wanted: number): readonly number[] {
  const range = to - from;
  if (!(range > 0) || !Number.isFinite(range)) {
    return [from];
  }
  const rough = range / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough) ?? 10;
  const step = factor * power;
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    // Rounding removes the wrong last digits that the multiplication adds.
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** Returns at most 6 powers of ten in from..to, or the two ends of the range if fewer than two are in it. */
export function powerTicks(from: number, to: number): readonly number[] {
  const first = Math.ceil(Math.log10(from) - 1e-9);
  const last = Math.floor(Math.log10(to) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / 6));
  const powers: number[] = [];
  for (let power = first; power <= last; power += every) {
    powers.push(10 ** power);
  }
  return powers.length < 2 ? [from, to] : powers;
}

/**
 * Returns where `value` lies between `from` and `to`, as a part from 0 to 1. The three numbers are halved first,
 * because a difference of two may exceed the largest double.
 */
function share(value: number, from: number, to: number): number {
  const range = to / 2 - from / 2;
  return range === 0 ? 0.5 : (value / 2 - from / 2) / range;
}

export function canBeLogarithmic(points: readonly Point[]): boolean {
  const values = points.map(([, value]) => value);
  return values.length > 1 && values.every((value) => value > 0);
}

/** The ranges of the axes, which decide where values are drawn, and their ticks. */
export interface Frame {
  readonly placeX: (x: number) => number;
  readonly placeY: (y: number) => number;
  readonly xTicks: readonly Tick[];
  readonly yTicks: readonly Tick[];
  readonly minValue: number;
  readonly maxValue: number;
}

/** Returns the frame that contains all finite points; null without such a point. `wholeX`: only whole numbers label x. */
export function framed(points: readonly Point[], scale: Scale, wholeX = true): Frame | null {
  const first = points[0];
  if (first === undefined) {
    return null;
  }
  let [minX, maxX, minValue, maxValue] = [first[0], first[0], first[1], first[1]];
  for (const [x, value] of points) {
    minX = Math.min(minX, x);
    maxX = Math.max(maxX, x);
    minValue = Math.min(minValue, value);
    maxValue = Math.max(maxValue, value);
  }
  const isLog = scale === "log" && minValue > 0;
  const along = isLog ? Math.log10 : (value: number) => value;
  const xAt = (x: number) => share(x, minX, maxX);
  const yAt = (y: number) => share(along(y), along(minValue), along(maxValue));
  const round = (value: number) => Math.round(value * 100) / 100;
  const inside = (low: number, high: number, at: number) =>
    (low + at * (high - low - 2 * MARGIN)) / (high - low);
  const yValues = isLog ? powerTicks(minValue, maxValue) : roundTicks(minValue, maxValue, 4);
  const xValues = roundTicks(minX, maxX, 5).filter((x) => !wholeX || Number.isInteger(x));
  return {
    placeX: (x) => round(MARGIN + xAt(x) * (CHART_WIDTH - 2 * MARGIN)),
    placeY: (y) => round(CHART_HEIGHT - MARGIN - yAt(y) * (CHART_HEIGHT - 2 * MARGIN)),
    xTicks: xValues.map((value) => ({
      value,
      at: inside(MARGIN, CHART_WIDTH + MARGIN, xAt(value)),
    })),
    yTicks: yValues.map((value) => ({
      value,
      at: inside(MARGIN, CHART_HEIGHT + MARGIN, yAt(value)),
    })),
    minValue,
    maxValue,
  };
}

/** From this number of dots on, dots that would lie on each other are drawn once. */
const MANY_DOTS = 3_000;
/** Dots in the same square with sides of this length look like one. */
const SAME_DOT = 3;

/** Returns the path of dots at these places. */
export function dotsOf(places: readonly (readonly [x: number, y: number])[]): string {
  const seen = new Set<number>();
  let path = "";
  for (const [x, y] of places) {
    if (places.length > MANY_DOTS) {
      const square = Math.floor(x / SAME_DOT) * 1_000 + Math.floor(y / SAME_DOT);
      if (seen.has(square)) {
        continue;
      }
      seen.add(square);
    }
    path += `M${x} ${y}h0`;
  }
  return path;
}

/** Returns the chart of the finite points, in the order of x, or null if no point is finite. */
export function chartOf(points: readonly Point[], options: ChartOptions): Chart | null {
  const finite = points
    .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))
    .sort(([a], [b]) => a - b);
  const first = finite[0];
  const frame = framed(finite, options.scale);
  if (first === undefined || frame === null) {
    return null;
  }
  const { placeX, placeY } = frame;
  const places = finite.map(([x, y]) => [placeX(x), placeY(y)] as const);

  let best = "";
  if (options.direction !== null) {
    const pick = options.direction === "minimize" ? Math.min : Math.max;
    let value: number | null = null;
    for (const [x, y] of finite) {
      // Only steps are drawn: of 100,000 trials few are better than all before them.
      if (options.mayBeBest?.(x) !== false && (value === null || pick(value, y) !== value)) {
        best += value === null ? `M${placeX(x)} ${placeY(y)}` : "";
        value = y;
        best += `H${placeX(x)}V${placeY(value)}`;
      }
    }
    const last = finite.at(-1);
    best += value === null || last === undefined ? "" : `H${placeX(last[0])}`;
  }
  return {
    dots: dotsOf(places),
    lines: [`M${places.map(([x, y]) => `${x} ${y}`).join("L")}`],
    best,
    xTicks: frame.xTicks,
    yTicks: frame.yTicks,
    count: finite.length,
    minValue: frame.minValue,
    maxValue: frame.maxValue,
  };
}
