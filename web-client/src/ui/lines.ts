// Computes the geometry of many lines in one chart, such as one series of all trials. A value that is not finite is a gap.
// Page thread; pure.

import { type Chart, type Frame, framed, type Scale } from "./chart.ts";
import type { Point } from "./curve.ts";

const isDrawn = (value: number, scale: Scale) =>
  Number.isFinite(value) && (scale === "linear" || value > 0);

/** Returns the parts of a line that lie between its gaps. */
function partsOf(line: readonly Point[], scale: Scale): readonly (readonly Point[])[] {
  const parts: Point[][] = [[]];
  for (const point of line) {
    if (isDrawn(point[1], scale)) {
      parts.at(-1)?.push(point);
    } else if (parts.at(-1)?.length !== 0) {
      parts.push([]);
    }
  }
  return parts.filter((part) => part.length > 0);
}

/** The most lines of one path. */
const LINES_OF_PATH = 20;

function groupsOf<T>(lines: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(lines.length / LINES_OF_PATH);
  return Array.from({ length: count }, (_, i) =>
    lines.slice(i * LINES_OF_PATH, (i + 1) * LINES_OF_PATH),
  );
}

export interface LinesOptions {
  /** The index of a line that is drawn separately, as `best`; -1 marks none. */
  readonly marked?: number;
  /** Whether only whole numbers label x, which is so unless it is false. */
  readonly wholeX?: boolean;
  /** A logarithmic scale needs values above 0, and a line has a gap at others. */
  readonly scale?: Scale;
  /** Lines that are drawn faintly, and only as far as they are in the frame of the others. */
  readonly faint?: readonly (readonly Point[])[];
}

/** Returns the frame of some lines, or null if none has a value that can be drawn. */
export function frameOf(
  lines: readonly (readonly Point[])[],
  { scale = "linear", wholeX = true }: LinesOptions = {},
): Frame | null {
  const points = lines.flat().filter(([, value]) => isDrawn(value, scale));
  return framed(points, scale, wholeX);
}

/** Returns the chart, or null if no value can be drawn. Each line is in the order of x. */
export function linesOf(
  lines: readonly (readonly Point[])[],
  options: LinesOptions = {},
): Chart | null {
  const { marked = -1, scale = "linear", faint = [] } = options;
  const frame = frameOf(lines, options);
  if (frame === null) {
    return null;
  }
  const all = lines.map((line) => partsOf(line, scale));
  const place = ([x, y]: Point) => `${frame.placeX(x)} ${frame.placeY(y)}`;
  const pathOf = (parts: readonly (readonly Point[])[]) =>
    parts.map((part) => (part.length > 1 ? `M${part.map(place).join("L")}` : "")).join("");
  const lonely = all.flat().flatMap((part) => (part.length === 1 ? part : []));
  return {
    dots: lonely.map((point) => `M${place(point)}h0`).join(""),
    lines: groupsOf(all.flatMap((parts, i) => (i === marked ? [] : parts))).map(pathOf),
    faint: groupsOf(faint.flatMap((line) => partsOf(line, scale))).map(pathOf),
    best: pathOf(all[marked] ?? []),
    xTicks: frame.xTicks,
    yTicks: frame.yTicks,
    count: all.flat(2).length,
    minValue: frame.minValue,
    maxValue: frame.maxValue,
  };
}
