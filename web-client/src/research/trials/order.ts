// Sorts the rows of the trials table. Each cell is read once for each version of the rows; then only numbers are compared,
// so that 100,000 rows are sorted within a frame or two. Page thread; pure.

import type { TrialRow } from "../model/rows.ts";

export interface Sort {
  /** The column by which rows are sorted, in the form that `columnKey` returns. */
  readonly key: string;
  readonly descending: boolean;
}

/** The order of kinds: numbers before NaN, NaN before booleans, then texts and null. Missing values are always last. */
const NUMBER = 0;
const NAN = 1;
const BOOLEAN = 2;
const TEXT = 3;
const NULL = 4;
const MISSING = 5;

/** A column's cells as numbers that sort as the cells do. The place of a cell is the place of its row. */
export interface Keys {
  readonly kinds: Uint8Array;
  readonly numbers: Float64Array;
}

/** Reads a column. Texts become their rank among all texts of the column, in the order of their code units. */
export function keysOf(trials: readonly TrialRow[], read: (trial: TrialRow) => unknown): Keys {
  const kinds = new Uint8Array(trials.length);
  const numbers = new Float64Array(trials.length);
  const texts = new Map<string, number[]>();
  trials.forEach((trial, i) => {
    const cell = read(trial);
    switch (typeof cell) {
      case "number":
        kinds[i] = Number.isNaN(cell) ? NAN : NUMBER;
        numbers[i] = Number.isNaN(cell) ? 0 : cell;
        return;
      case "boolean":
        kinds[i] = BOOLEAN;
        numbers[i] = Number(cell);
        return;
      case "string": {
        kinds[i] = TEXT;
        const places = texts.get(cell);
        if (places === undefined) {
          texts.set(cell, [i]);
        } else {
          places.push(i);
        }
        return;
      }
      default:
        kinds[i] = cell === undefined ? MISSING : NULL;
    }
  });
  [...texts.keys()].sort().forEach((text, rank) => {
    for (const place of texts.get(text) ?? []) {
      numbers[place] = rank;
    }
  });
  return { kinds, numbers };
}

/** Returns the places of the rows in the order of their trials' numbers. */
export function byNumber(trials: readonly TrialRow[]): Uint32Array {
  const numbers = Float64Array.from(trials, ({ trial }) => trial);
  const places = Uint32Array.from(trials.keys());
  return places.sort((a, b) => (numbers[a] as number) - (numbers[b] as number));
}

/** Sorts places by their keys. Equal ones keep their order, and missing values come last in either direction. */
export function ordered(places: Uint32Array, { kinds, numbers }: Keys, descending: boolean) {
  const sign = descending ? -1 : 1;
  return places.slice().sort((a, b) => {
    const [one, other] = [kinds[a] as number, kinds[b] as number];
    if (one !== other) {
      return one === MISSING || other === MISSING ? one - other : sign * (one - other);
    }
    const [x, y] = [numbers[a] as number, numbers[b] as number];
    return x < y ? -sign : x > y ? sign : 0;
  });
}

/** Returns the sorting after a press on a column. The first press puts the best, or else the smallest, value on top. */
export function sortAfterPress(sort: Sort, key: string, maximized: ReadonlySet<string>): Sort {
  return sort.key === key
    ? { key, descending: !sort.descending }
    : { key, descending: maximized.has(key) };
}
