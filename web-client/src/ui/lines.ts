// Computes the geometry of many lines in one chart, such as one series of all trials. A value that is not finite is a gap.
// Page thread; pure.

import { type Chart, framed } from "./chart.ts";
import type { Point } from "./curve.ts";

/** Returns the parts of a line that lie between its gaps. */
function partsOf(line: readonly Point[]): readonly (readonly Point[])[] {
  const parts: Point[][] = [[]];
  for (const point of line) {
    if (Number.isFinite(point[1])) {
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

/**
 * Returns the chart, or null if no value is finite. Each line is in the order of x. `marked` is the index of a line that
 * is drawn separately, as `best`; -1 marks none. `wholeX`: only whole numbers label x.
 */
export function linesOf(
  lines: readonly (readonly Point[])[],
  marked = -1,
  wholeX = true,
): Chart | null {
  const all = lines.map(partsOf);
  const points = all.flat(2);
  const frame = framed(points, "linear", wholeX);
  if (frame === null) {
    return null;
  }
  const place = ([x, y]: Point) => `${frame.placeX(x)} ${frame.placeY(y)}`;
  const pathOf = (parts: readonly (readonly Point[])[]) =>
    parts.map((part) => (part.length > 1 ? `M${part.map(place).join("L")}` : "")).join("");
  const lonely = all.flat().flatMap((part) => (part.length === 1 ? part : []));
  return {
    dots: lonely.map((point) => `M${place(point)}h0`).join(""),
    lines: groupsOf(all.flatMap((parts, i) => (i === marked ? [] : parts))).map(pathOf),
    best: pathOf(all[marked] ?? []),
    xTicks: frame.xTicks,
    yTicks: frame.yTicks,
    count: points.length,
    minValue: frame.minValue,
    maxValue: frame.maxValue,
  };
}
