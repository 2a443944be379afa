// The hypervolume that the trials up to each one dominate, as `optuna.visualization.plot_hypervolume_history` computes it.
// Page thread; pure.

import type { TrialRow } from "../../model/rows.ts";

export interface HypervolumeHistory {
  readonly trials: readonly number[];
  readonly values: readonly number[];
  /** Whether later trials are left out, because their hypervolume would take too long. */
  readonly isCut: boolean;
}

type Losses = readonly number[];

/** The most boxes that are computed for a history: about a second. With many objectives a front takes very many. */
const MOST_BOXES = 3_000_000;

class TooManyError extends Error {}

/** Computes hypervolumes of losses below a reference point by the WFG algorithm, within a budget of boxes. */
class Computer {
  readonly #reference: Losses;
  #left = MOST_BOXES;

  constructor(reference: Losses) {
    this.#reference = reference;
  }

  /** Returns the volume of the box from one point to the reference. */
  box(point: Losses): number {
    this.#left -= 1;
    if (this.#left < 0) {
      throw new TooManyError();
    }
    return point.reduce((volume, loss, i) => volume * ((this.#reference[i] as number) - loss), 1);
  }

  /** Returns the volume that the points dominate together. */
  volume(points: readonly Losses[]): number {
    const sorted = [...points].sort((a, b) => (a[0] as number) - (b[0] as number));
    if (this.#reference.length === 2) {
      return this.#area(sorted);
    }
    return sorted.reduce((sum, point, i) => sum + this.#exclusive(point, sorted.slice(i + 1)), 0);
  }

  /** Returns the area of two losses, sorted by the first one. */
  #area(sorted: readonly Losses[]): number {
    const [right, top] = this.#reference as readonly [number, number];
    let lowest = top;
    let area = 0;
    for (const [x, y] of sorted as readonly (readonly [number, number])[]) {
      if (y < lowest) {
        area += (right - x) * (lowest - y);
        lowest = y;
      }
    }
    return area;
  }

  /** Returns the volume that a point dominates and the others do not. */
  #exclusive(point: Losses, others: readonly Losses[]): number {
    const own = this.box(point);
    return others.length === 0
      ? own
      : own - this.volume(frontOf(others.map((one) => worse(one, point))));
  }
}

const worse = (one: Losses, other: Losses): Losses =>
  one.map((loss, i) => Math.max(loss, other[i] as number));

const dominates = (one: Losses, other: Losses) =>
  one.every((loss, i) => loss <= (other[i] as number));

/** Leaves out points that another one dominates, and all but one of equal points. */
function frontOf(points: readonly Losses[]): readonly Losses[] {
  const front: Losses[] = [];
  for (const point of points) {
    if (!front.some((one) => dominates(one, point))) {
      for (let i = front.length - 1; i >= 0; i -= 1) {
        if (dominates(point, front[i] as Losses)) {
          front.splice(i, 1);
        }
      }
      front.push(point);
    }
  }
  return front;
}

/** Returns the history of complete trials, by number. Infeasible trials add nothing. */
export function hypervolumeHistory(
  complete: readonly TrialRow[],
  directions: readonly ("minimize" | "maximize")[],
  reference: readonly number[],
): HypervolumeHistory {
  const signs = directions.map((direction) => (direction === "minimize" ? 1 : -1));
  const limit = reference.map((value, i) => (signs[i] ?? 1) * value);
  const computer = new Computer(limit);
  const trials: number[] = [];
  const values: number[] = [];
  let front: readonly Losses[] = [];
  let volume = 0;
  try {
    for (const row of complete) {
      const losses = row.exactValues.map((value, i) => (signs[i] ?? 1) * value);
      const isBeyond = losses.some((loss, i) => loss > (limit[i] as number));
      if (!row.isInfeasible && !isBeyond && !front.some((one) => dominates(one, losses))) {
        const box = computer.box(losses);
        const shared = computer.volume(frontOf(front.map((one) => worse(one, losses))));
        volume += front.length === 0 ? box : box - shared;
        front = [...front.filter((one) => !dominates(losses, one)), losses];
      }
      trials.push(row.trial);
      values.push(volume);
    }
  } catch (error) {
    if (error instanceof TooManyError) {
      return { trials, values, isCut: true };
    }
    throw error;
  }
  return { trials, values, isCut: false };
}

/** Returns a reference point for a study: the worst finite value of each objective among feasible complete trials. */
export function worstPoint(
  complete: readonly TrialRow[],
  directions: readonly ("minimize" | "maximize")[],
): readonly number[] {
  return directions.map((direction, i) => {
    const pick = direction === "minimize" ? Math.max : Math.min;
    const found = complete.flatMap(({ isInfeasible, exactValues }) => {
      const value = exactValues[i];
      return isInfeasible || value === undefined || !Number.isFinite(value) ? [] : [value];
    });
    return found.length === 0 ? 0 : found.reduce((one, other) => pick(one, other));
  });
}
