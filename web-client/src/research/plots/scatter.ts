// The geometry of a scatter plot of trials. Page thread; pure.

import { dotsOf } from "../../ui/chart.ts";
import type { Axis } from "./axis.ts";

export const PLOT_WIDTH = 640;
export const PLOT_HEIGHT = 300;
/** The free space at each edge, so that dots there are whole; in the same units as the width. */
const MARGIN = 10;
/** A pointer so near to a dot, in the same units, means the dot. */
const NEAR = 16;

/** The classes of ranks from the smallest values to the largest ones. */
export const rankMarks = [
  ...(["rank0", "rank1", "rank2", "rank3", "rank4", "rank5", "rank6", "rank7", "rank8"] as const),
] as const;
export type RankMark = (typeof rankMarks)[number];
/** How a dot is drawn. */
export type Mark = "other" | "best" | "infeasible" | RankMark;
/** All marks. Those that come later are drawn above the others. */
export const marks = [
  "infeasible",
  ...rankMarks,
  "other",
  "best",
] as const satisfies readonly Mark[];

export const plotX = (at: number) =>
  Math.round((MARGIN + at * (PLOT_WIDTH - 2 * MARGIN)) * 10) / 10;
export const plotY = (at: number) =>
  Math.round((PLOT_HEIGHT - MARGIN - at * (PLOT_HEIGHT - 2 * MARGIN)) * 10) / 10;

export interface Scatter {
  readonly paths: Readonly<Record<Mark, string>>;
  /** The number of rows that have a place on both axes. */
  readonly count: number;
}

/** Returns the dots of all rows that both axes have a place for. */
export function scatterOf(x: Axis, y: Axis, markOf: (row: number) => Mark): Scatter {
  const places = new Map<Mark, [number, number][]>(marks.map((mark) => [mark, []]));
  let count = 0;
  x.at.forEach((along, row) => {
    const up = y.at[row] ?? Number.NaN;
    if (!Number.isNaN(along) && !Number.isNaN(up)) {
      places.get(markOf(row))?.push([plotX(along), plotY(up)]);
      count += 1;
    }
  });
  const paths = Object.fromEntries(
    marks.map((mark) => [mark, dotsOf(places.get(mark) ?? [])]),
  ) as Record<Mark, string>;
  return { paths, count };
}

/** Returns the row whose dot is nearest to a place on the plot, from 0 to 1 in both directions; -1 if none is near. */
export function nearest(x: Axis, y: Axis, across: number, up: number): number {
  let found = -1;
  let least = NEAR ** 2;
  x.at.forEach((along, row) => {
    const dx = plotX(along) - across * PLOT_WIDTH;
    const dy = plotY(y.at[row] ?? Number.NaN) - (1 - up) * PLOT_HEIGHT;
    const distance = dx * dx + dy * dy;
    if (distance < least) {
      least = distance;
      found = row;
    }
  });
  return found;
}
