// A surface over a contour plot: values at the nodes of a grid that follow from the values of trials, and the regions where
// the surface is at least so high. Page thread; pure.

/** The number of nodes along both axes. */
const ACROSS = 57;
const UP = 41;
/** The cells in which trials are put together, along both axes, so that 100,000 trials take no longer than 1,000. */
const BINS = 28;
/** A node so near to a trial has the trial's value. It is a squared distance; places are from 0 to 1. */
const SAME = 1e-12;

export interface Field {
  readonly across: number;
  readonly up: number;
  /** The height at each node, row by row from below. */
  readonly heights: Float64Array;
  readonly least: number;
  readonly most: number;
}

export interface FieldPoint {
  /** From 0 to 1 along both axes. */
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

/** Keeps the highest point of each cell, at its own place. */
function binned(points: readonly FieldPoint[]): readonly FieldPoint[] {
  const highest = new Map<number, FieldPoint>();
  for (const point of points) {
    const cell =
      Math.floor(point.x * (BINS - 1) + 0.5) * BINS + Math.floor(point.y * (BINS - 1) + 0.5);
    const known = highest.get(cell);
    if (known === undefined || point.height > known.height) {
      highest.set(cell, point);
    }
  }
  return [...highest.values()];
}

/** Returns the surface through the highest points; null without a point. */
export function fieldOf(points: readonly FieldPoint[]): Field | null {
  const known = binned(points);
  if (known.length === 0) {
    return null;
  }
  const heights = new Float64Array(ACROSS * UP);
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let row = 0; row < UP; row += 1) {
    for (let column = 0; column < ACROSS; column += 1) {
      const height = heightAt(known, column / (ACROSS - 1), row / (UP - 1));
      heights[row * ACROSS + column] = height;
      least = Math.min(least, height);
      most = Math.max(most, height);
    }
  }
  return { across: ACROSS, up: UP, heights, least, most };
}

/** The weight of a trial falls with the third power of its distance (Shepard's interpolation). */
function heightAt(known: readonly FieldPoint[], x: number, y: number): number {
  let weights = 0;
  let sum = 0;
  for (const point of known) {
    const [dx, dy] = [point.x - x, point.y - y];
    const square = dx * dx + dy * dy;
    if (square < SAME) {
      return point.height;
    }
    const weight = 1 / (square * Math.sqrt(square));
    weights += weight;
    sum += weight * point.height;
  }
  return sum / weights;
}

type Place = readonly [x: number, y: number];

/**
 * Returns the path of the region where the surface is at least so high. `place` turns a node's place, from 0 to 1, into the
 * drawing's coordinates. All parts of the path turn in the same direction, so no seam is seen between them.
 */
export function regionAbove(
  field: Field,
  level: number,
  place: (x: number, y: number) => Place,
): string {
  const { across, up, heights } = field;
  const heightOf = (column: number, row: number) => heights[row * across + column] as number;
  const parts: string[] = [];
  const add = (corners: readonly Place[]) => {
    if (corners.length > 2) {
      const texts = corners.map(([x, y]) => place(x / (across - 1), y / (up - 1)).join(" "));
      parts.push(`M${texts.join("L")}z`);
    }
  };
  for (let row = 0; row + 1 < up; row += 1) {
    let run = -1; // the first of the cells in this row that lie wholly in the region
    for (let column = 0; column < across; column += 1) {
      const corners = [
        ...[[column, row] as const, [column + 1, row] as const],
        ...[[column + 1, row + 1] as const, [column, row + 1] as const],
      ];
      const isCell = column + 1 < across;
      const isWhole = isCell && corners.every(([x, y]) => heightOf(x, y) >= level);
      if (isWhole) {
        run = run < 0 ? column : run;
        continue;
      }
      if (run >= 0) {
        add([
          [run, row],
          [column, row],
          [column, row + 1],
          [run, row + 1],
        ]);
        run = -1;
      }
      if (isCell) {
        add(cut(corners, heightOf, level));
      }
    }
  }
  return parts.join("");
}

/** Returns the part of a cell that is at least so high. */
function cut(
  corners: readonly Place[],
  heightOf: (column: number, row: number) => number,
  level: number,
): readonly Place[] {
  return corners.flatMap((corner, i) => {
    const next = corners[(i + 1) % corners.length] ?? corner;
    const [here, there] = [heightOf(...corner), heightOf(...next)];
    const found: Place[] = here >= level ? [corner] : [];
    if (here >= level !== there >= level) {
      const part = (level - here) / (there - here);
      found.push([
        corner[0] + part * (next[0] - corner[0]),
        corner[1] + part * (next[1] - corner[1]),
      ]);
    }
    return found;
  });
}
