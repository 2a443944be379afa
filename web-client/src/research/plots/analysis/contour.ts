// The values behind a contour plot, as `optuna.visualization.plot_contour` computes them: the places on both axes, and the
// best value of the trials at each pair of places. Page thread; pure.

import type { Distribution } from "../../model/distribution.ts";
import type { Param } from "../../model/params.ts";
import type { TrialRow } from "../../model/rows.ts";
import { paramReader } from "../../trials/columns.ts";
import { byCodePoint, pythonText } from "./complete_rows.ts";

export type Place = number | string;

export interface ContourAxis {
  readonly name: string;
  readonly isLog: boolean;
  /** Whether its values are numbers. Others are texts. */
  readonly isNumerical: boolean;
  /** The lowest and the highest number of the axis, with some room; for texts, their places. */
  readonly range: readonly [low: number, high: number];
  /** All different values in order. Numbers have the ends of the range before and after them. */
  readonly places: readonly Place[];
  /** The value of each row; undefined if it has none. */
  readonly values: readonly (Place | undefined)[];
}

export interface Contour {
  readonly x: ContourAxis;
  readonly y: ContourAxis;
  /** The best value at a pair of places: [index on x, index on y, value], in the order in which trials found them. */
  readonly cells: readonly (readonly [x: number, y: number, value: number])[];
}

/** The room at each end of an axis, as a part of its length. */
const PADDING = 0.05;

const isNumber = (value: unknown): value is number => typeof value === "number";

/** Returns the distribution that the first row with this parameter has, which decides for Optuna how an axis is drawn. */
export function firstDistribution(
  rows: readonly TrialRow[],
  name: string,
  space: ReadonlyMap<string, Distribution>,
): Distribution | null {
  const read = paramReader(name);
  const row = rows.find((one) => read(one) !== undefined);
  return row?.distributions.get(name) ?? space.get(name) ?? null;
}

function isNumerical(kind: Distribution | null, params: readonly (Param | undefined)[]): boolean {
  const seen = () => params.every((param) => param === undefined || isNumber(param.value));
  // Without a distribution, the values decide.
  return kind === null ? seen() : kind.kind !== "categorical" || kind.choices.every(isNumber);
}

/** Returns the axis of a parameter over these rows. `space` has the distributions of a study whose rows have none. */
export function contourAxis(
  rows: readonly TrialRow[],
  name: string,
  space: ReadonlyMap<string, Distribution>,
): ContourAxis {
  const read = paramReader(name);
  const params = rows.map(read);
  const kind = firstDistribution(rows, name, space);
  if (!isNumerical(kind, params)) {
    const values = params.map((param) => (param === undefined ? undefined : pythonText(param)));
    const places = [...new Set(values.filter((value) => value !== undefined))].sort(byCodePoint);
    const padding = (places.length - 1) * PADDING;
    return {
      ...{ name, isLog: false, isNumerical: false, places, values },
      range: [-padding, places.length - 1 + padding],
    };
  }
  const values = params.map((param) => (isNumber(param?.value) ? param.value : undefined));
  const numbers = [...new Set(values.filter(isNumber))].sort((a, b) => a - b);
  const [least = 0, most = 0] = [numbers[0], numbers.at(-1)];
  const isLog = kind !== null && kind.kind !== "categorical" && kind.isLog && least > 0;
  const range = padded(least, most, isLog);
  const places = numbers.length < 2 ? numbers : [range[0], ...numbers, range[1]];
  return { name, isLog, isNumerical: true, range, places, values };
}

function padded(least: number, most: number, isLog: boolean): readonly [number, number] {
  if (isLog) {
    const [low, high] = [Math.log10(least), Math.log10(most)];
    const padding = (high - low) * PADDING;
    return [10 ** (low - padding), 10 ** (high + padding)];
  }
  // Halves are subtracted, because the difference of two numbers may exceed the largest double.
  const padding = 2 * ((most / 2 - least / 2) * PADDING);
  return [least - padding, most + padding];
}

/** Returns the values of the rows, which are complete and have a finite objective, over two axes of these rows. */
export function contourOf(
  rows: readonly TrialRow[],
  [x, y]: readonly [x: ContourAxis, y: ContourAxis],
  objective: number,
  direction: "minimize" | "maximize",
): Contour {
  const isFlat = x.name === y.name || x.places.length < 2 || y.places.length < 2;
  const best = new Map<number, [number, number, number]>();
  const [xIndex, yIndex] = [indicesOf(x), indicesOf(y)];
  const better = direction === "minimize" ? Math.min : Math.max;
  (isFlat ? [] : rows).forEach((row, i) => {
    const [across, up] = [indexOf(xIndex, x.values[i]), indexOf(yIndex, y.values[i])];
    const value = row.exactValues[objective];
    if (across === undefined || up === undefined || value === undefined) {
      return;
    }
    const key = across * y.places.length + up;
    const known = best.get(key);
    if (known === undefined) {
      best.set(key, [across, up, value]);
    } else {
      known[2] = better(known[2], value);
    }
  });
  return { x, y, cells: [...best.values()] };
}

const indexOf = (indices: ReadonlyMap<Place, number>, value: Place | undefined) =>
  value === undefined ? undefined : indices.get(value);

function indicesOf({ places }: ContourAxis): ReadonlyMap<Place, number> {
  // The first index of a number counts: the end of a range may equal a value.
  return new Map([...places.entries()].reverse().map(([i, place]) => [place, i]));
}
