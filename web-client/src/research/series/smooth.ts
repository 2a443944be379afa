// Smooths lines, makes them shorter, and finds the line at a place. Page thread; pure.

import type { Frame } from "../../ui/chart.ts";
import type { Point } from "../../ui/curve.ts";

/**
 * Returns the line smoothed as TensorBoard does: an exponential mean of the values so far, corrected at its begin. With the
 * weight 0 nothing changes. A value that is not finite stays, and the mean goes on after it.
 */
export function smoothed(line: readonly Point[], weight: number): readonly Point[] {
  if (weight <= 0) {
    return line;
  }
  let mean = 0;
  let known = 0;
  return line.map(([step, value]): Point => {
    if (!Number.isFinite(value)) {
      return [step, value];
    }
    mean = mean * weight + value * (1 - weight);
    known += 1;
    return [step, mean / (1 - weight ** known)];
  });
}

/**
 * Returns at most `most` points of a line: the first, the last, and of equal parts between them the smallest and the largest
 * one. The server does the same with series. `most` is at least 4.
 */
export function shortened(line: readonly Point[], most: number): readonly Point[] {
  if (line.length <= most) {
    return line;
  }
  const parts = Math.floor((most - 2) / 2);
  const inner = line.slice(1, -1);
  const found: Point[] = [line[0] as Point];
  for (let part = 0; part < parts; part += 1) {
    const from = Math.floor((part * inner.length) / parts);
    const to = Math.floor(((part + 1) * inner.length) / parts);
    let [least, largest] = [from, from];
    for (let i = from; i < to; i += 1) {
      const value = inner[i]?.[1] ?? 0;
      least = value < (inner[least]?.[1] ?? 0) ? i : least;
      largest = value > (inner[largest]?.[1] ?? 0) ? i : largest;
    }
    for (const i of new Set([Math.min(least, largest), Math.max(least, largest)])) {
      found.push(inner[i] as Point);
    }
  }
  found.push(line.at(-1) as Point);
  return found;
}

/** A pointer so near to a line, in the units of the drawing, means it. */
const NEAR = 14;

/** Returns the index of the line nearest to a place in the drawing, and the nearest of its points; null if none is near. */
export function nearestLine(
  lines: readonly (readonly Point[])[],
  frame: Frame,
  x: number,
  y: number,
): { readonly line: number; readonly point: Point } | null {
  let found: { readonly line: number; readonly point: Point } | null = null;
  let least = NEAR;
  lines.forEach((points, line) => {
    for (let i = 0; i < points.length; i += 1) {
      const [here, next] = [points[i] as Point, points[i + 1] ?? (points[i] as Point)];
      if (Number.isFinite(here[1]) && Number.isFinite(next[1])) {
        const distance = distanceTo(frame, here, next, x, y);
        if (distance < least) {
          least = distance;
          const isNext = Math.abs(frame.placeX(next[0]) - x) < Math.abs(frame.placeX(here[0]) - x);
          found = { line, point: isNext ? next : here };
        }
      }
    }
  });
  return found;
}

/** Returns how far a place is from the line between two points. */
function distanceTo(frame: Frame, from: Point, to: Point, x: number, y: number): number {
  const [ax, ay] = [frame.placeX(from[0]), frame.placeY(from[1])];
  const [dx, dy] = [frame.placeX(to[0]) - ax, frame.placeY(to[1]) - ay];
  const length = dx * dx + dy * dy;
  const part =
    length === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length));
  return Math.hypot(x - ax - part * dx, y - ay - part * dy);
}
