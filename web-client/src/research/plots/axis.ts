// An axis of a plot over trials: where each trial lies on it, and its labels. Numbers have a linear or a logarithmic scale.
// Texts, None and other values have places of their own, below the numbers if there are any. Page thread; pure.

import { powerTicks, roundTicks } from "../../ui/chart.ts";
import { shortNumber } from "../trials/columns.ts";
import { isFiniteNumber, otherText, type Range } from "../trials/range.ts";

export interface AxisTick {
  /** Along the axis, from 0 to 1. */
  readonly at: number;
  readonly text: string;
}

export interface Axis {
  readonly name: string;
  /** Where each row lies, from 0 to 1; NaN for a row that has no value. */
  readonly at: Float64Array;
  readonly ticks: readonly AxisTick[];
  readonly isLog: boolean;
  /** The texts of the values that are no numbers. */
  readonly others: readonly string[];
  readonly hasNumbers: boolean;
  /** Returns the values between two places. A place at an end of the axis sets no bound. */
  readonly rangeOf: (from: number, to: number) => Range;
  /** Returns the places of a range, from the lowest to the highest; null if nothing of it is on the axis. */
  readonly spanOf: (range: Range) => readonly [from: number, to: number] | null;
}

/** `auto` is logarithmic for positive numbers of very different sizes, `log` for any positive numbers. */
export type AxisScale = "linear" | "auto" | "log";

/** The part of the axis that other values get where there are numbers, too. */
const OTHERS = 0.2;
/** `auto` is logarithmic if the largest number is so many times the smallest. */
const LOG_RATIO = 100;
/** An axis with at most so many different numbers has a label for each of them that has room. */
const FEW_NUMBERS = 6;
/** The least distance of two labels, as a part of the axis. */
const LEAST_ROOM = 0.08;
/** The most labels of values that are no numbers. */
const MOST_LABELS = 12;

/** Returns those of the ascending values whose places are not too near to the one before. */
function apart(values: readonly number[], place: (value: number) => number): readonly number[] {
  let last = Number.NEGATIVE_INFINITY;
  return values.filter((value) => {
    const isApart = place(value) - last >= LEAST_ROOM;
    last = isApart ? place(value) : last;
    return isApart;
  });
}

/** Returns the axis of these cells, one for each row. A cell that is undefined has no place. */
export function axisOf(name: string, cells: readonly unknown[], scale: AxisScale): Axis {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const others = new Set<string>();
  const distinct = new Set<number>();
  for (const cell of cells) {
    if (isFiniteNumber(cell)) {
      least = Math.min(least, cell);
      most = Math.max(most, cell);
      if (distinct.size <= FEW_NUMBERS) {
        distinct.add(cell);
      }
    } else if (cell !== undefined) {
      others.add(otherText(cell));
    }
  }
  const hasNumbers = least <= most;
  const ratio = least > 0 ? most / least : 0;
  const isLog = scale !== "linear" && ratio > 1 && (scale === "log" || ratio >= LOG_RATIO);
  const along = isLog ? Math.log10 : (value: number) => value;
  const from = hasNumbers && others.size > 0 ? OTHERS : 0;
  // Halves are subtracted, because the difference of two numbers may exceed the largest double.
  const [low, half] = [along(least) / 2, along(most) / 2 - along(least) / 2];
  const place = (value: number) =>
    from + (1 - from) * (half === 0 ? 0.5 : (along(value) / 2 - low) / half);

  const valueAt = (at: number) => {
    if (half === 0) {
      return Number.NaN;
    }
    const value = 2 * (low + ((at - from) / (1 - from)) * half);
    return isLog ? 10 ** value : value;
  };
  const isBetween = (at: number, lowest: number, highest: number) =>
    lowest <= at + 1e-9 && at - 1e-9 <= highest;

  const texts = [...others].sort();
  const top = hasNumbers ? OTHERS / 2 : 1;
  const slot = new Map(
    texts.map((text, i) => [text, texts.length === 1 ? top / 2 : (top * i) / (texts.length - 1)]),
  );
  const every = Math.max(1, Math.ceil(texts.length / (hasNumbers ? 3 : MOST_LABELS)));
  const values =
    distinct.size <= FEW_NUMBERS
      ? apart(
          [...distinct].sort((a, b) => a - b),
          place,
        )
      : isLog
        ? powerTicks(least, most)
        : roundTicks(least, most, 4);
  return {
    name,
    at: Float64Array.from(cells, (cell) =>
      isFiniteNumber(cell)
        ? place(cell)
        : cell === undefined
          ? Number.NaN
          : (slot.get(otherText(cell)) ?? 0),
    ),
    ticks: [
      ...texts.filter((_, i) => i % every === 0).map((text) => ({ at: slot.get(text) ?? 0, text })),
      ...values.map((value) => ({ at: place(value), text: shortNumber(value) })),
    ],
    isLog,
    others: texts,
    hasNumbers,
    rangeOf: (first, last) => ({
      least: first <= (half === 0 ? place(least) : from) ? -Infinity : valueAt(first),
      // Below the numbers there is none: then the range ends before it begins.
      most:
        last >= (half === 0 ? place(most) : 1)
          ? Infinity
          : last < from
            ? Number.NaN
            : valueAt(last),
      others: new Set(texts.filter((text) => isBetween(slot.get(text) ?? 0, first, last))),
    }),
    spanOf: (range) => {
      const places = [...range.others].flatMap((text) => slot.get(text) ?? []);
      if (hasNumbers && range.least <= most && range.most >= least) {
        places.push(place(Math.max(least, range.least)), place(Math.min(most, range.most)));
      }
      return places.length === 0 ? null : [Math.min(...places), Math.max(...places)];
    },
  };
}
