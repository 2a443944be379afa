// Computes the geometry of the small metric curve: a path through reported points in a fixed box. Page thread; pure.

export type Point = readonly [step: number, value: number];

export const CURVE_WIDTH = 320;
export const CURVE_HEIGHT = 96;
/** The free space at each edge of the box, for the line's width and the dot at its end; in the units of the width. */
const MARGIN = 6;

export interface Curve {
  /** The curve as an SVG path. A single point is a line without length, which a round cap shows as a dot. */
  readonly path: string;
  /** The newest point, as a path without length. */
  readonly end: string;
  readonly minValue: number;
  readonly maxValue: number;
  readonly firstStep: number;
  readonly lastStep: number;
  readonly firstValue: number;
  readonly lastValue: number;
  readonly count: number;
}

function scale(value: number, from: number, to: number, low: number, high: number): number {
  // All numbers are halved before a subtraction, because the difference of two may exceed the largest double.
  const range = to / 2 - from / 2;
  const share = range === 0 ? 0.5 : (value / 2 - from / 2) / range;
  return Math.round((low + share * (high - low)) * 100) / 100;
}

/** Returns the curve, or null if no point is finite. A constant curve lies in the middle of the box. */
export function curveOf(points: readonly Point[]): Curve | null {
  const finite = points.filter(([step, value]) => Number.isFinite(step) && Number.isFinite(value));
  const first = finite[0];
  const last = finite.at(-1);
  if (first === undefined || last === undefined) {
    return null;
  }
  let minValue = first[1];
  let maxValue = first[1];
  let minStep = first[0];
  let maxStep = first[0];
  for (const [step, value] of finite) {
    minValue = Math.min(minValue, value);
    maxValue = Math.max(maxValue, value);
    minStep = Math.min(minStep, step);
    maxStep = Math.max(maxStep, step);
  }
  const place = ([step, value]: Point): string => {
    const x = scale(step, minStep, maxStep, MARGIN, CURVE_WIDTH - MARGIN);
    const y = scale(value, minValue, maxValue, CURVE_HEIGHT - MARGIN, MARGIN);
    return `${x} ${y}`;
  };
  const end = `M${place(last)}h0`;
  return {
    path: finite.length === 1 ? end : `M${finite.map(place).join("L")}`,
    end,
    minValue,
    maxValue,
    firstStep: minStep,
    lastStep: maxStep,
    firstValue: first[1],
    lastValue: last[1],
    count: finite.length,
  };
}
