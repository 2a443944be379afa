// The geometry of parallel coordinates: one axis for each value and parameter, and a line for each trial. Page thread; pure.

import type { Axis } from "./axis.ts";

/** The most lines that are drawn: more cannot be told apart, and take long to draw. */
export const MOST_LINES = 1_500;
/** The most lines of trials that do not match. */
export const MOST_FAINT = 300;
/** Lines are drawn in so many bands, from the worst to the best. */
export const BANDS = 6;
export const AXIS_HEIGHT = 260;
/** The room above the axes for their names, and below them. */
export const AXIS_TOP = 34;
export const AXIS_BOTTOM = 14;
/** The least distance of two axes, and the room left and right of them. */
const LEAST_GAP = 104;
const SIDE = 52;
/** A brush shorter than this part of the axis is a press, which takes the range away. */
export const LEAST_BRUSH = 0.02;

export interface Layout {
  readonly width: number;
  readonly xs: readonly number[];
}

/** Returns where the axes stand in a frame of this width. The layout is wider if they would be too near to each other. */
export function layoutOf(axes: number, frame: number): Layout {
  const width = Math.max(frame, 2 * SIDE + LEAST_GAP * Math.max(0, axes - 1));
  const gap = axes < 2 ? 0 : (width - 2 * SIDE) / (axes - 1);
  return { width, xs: Array.from({ length: axes }, (_, i) => Math.round(SIDE + i * gap)) };
}

export const yOf = (at: number) => Math.round((AXIS_TOP + (1 - at) * AXIS_HEIGHT) * 10) / 10;

/** Returns the place on an axis for a height in the drawing, from 0 to 1. */
export const placeOfY = (y: number) => Math.min(1, Math.max(0, 1 - (y - AXIS_TOP) / AXIS_HEIGHT));

/** Returns the path of the rows' lines. A line has a gap where its row has no place on an axis. */
export function pathOf(
  axes: readonly Axis[],
  xs: readonly number[],
  rows: readonly number[],
): string {
  let path = "";
  for (const row of rows) {
    let isOpen = false;
    axes.forEach(({ at }, i) => {
      const place = at[row] ?? Number.NaN;
      if (Number.isNaN(place)) {
        isOpen = false;
        return;
      }
      path += `${isOpen ? "L" : "M"}${xs[i]} ${yOf(place)}`;
      isOpen = true;
    });
  }
  return path;
}

/**
 * Divides rows into BANDS bands of equal size by their place on an axis, the worst first. A row without a place is in the
 * first band.
 */
export function bandsOf(
  rows: readonly number[],
  axis: Axis,
  direction: "minimize" | "maximize",
): readonly (readonly number[])[] {
  const sign = direction === "minimize" ? -1 : 1;
  const good = (row: number) => {
    const place = axis.at[row] ?? Number.NaN;
    return Number.isNaN(place) ? Number.NEGATIVE_INFINITY : sign * place;
  };
  const sorted = [...rows].sort((a, b) => {
    const [one, other] = [good(a), good(b)];
    return one === other ? 0 : one - other;
  });
  return Array.from({ length: BANDS }, (_, band) =>
    sorted.slice(
      Math.floor((band * sorted.length) / BANDS),
      Math.floor(((band + 1) * sorted.length) / BANDS),
    ),
  );
}

/** Returns the complete rows that match, and those that do not. */
export function dividedRows(
  isComplete: (row: number) => boolean,
  matches: Uint8Array,
): { readonly matching: readonly number[]; readonly others: readonly number[] } {
  const matching: number[] = [];
  const others: number[] = [];
  matches.forEach((isMatch, row) => {
    if (isComplete(row)) {
      (isMatch === 1 ? matching : others).push(row);
    }
  });
  return { matching, others };
}
