// Reads the rows of named series that Python logs (R59), and collects them into messages. Pure; agent thread.

import * as v from "valibot";
import { logged } from "../../protocol/fields.ts";
import {
  MAX_SERIES,
  MAX_SERIES_NAME,
  MAX_SERIES_ROWS,
  MAX_SERIES_VALUES,
} from "../../protocol/limits.ts";
import type { Series } from "../../protocol/messages.ts";
import { argumentsOf } from "./asked_call.ts";

type Value = v.InferOutput<typeof logged>;

/** A row of named series: for each name the value at this step. */
export interface LoggedRow {
  readonly step: number;
  readonly values: readonly (readonly [name: string, value: Value])[];
}

/** The most values in a message of series, so that it fits into a frame even with the longest names and values. */
const MOST_CELLS = 20_000;

const rowSchema = v.object({
  step: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  values: v.record(v.string(), logged),
});

/** Returns the row in a JSON text, or null if only a thread that trial code has changed can have sent it. */
export function parseRow(text: string): LoggedRow | null {
  const parsed = v.safeParse(rowSchema, argumentsOf(text));
  if (!parsed.success) return null;
  const values = Object.entries(parsed.output.values);
  const isGood = ([name, value]: (typeof values)[number]) =>
    value !== null && name.length > 0 && name.isWellFormed() && [...name].length <= MAX_SERIES_NAME;
  return values.every(isGood) ? { step: parsed.output.step, values } : null;
}

/** Counts the series of an attempt. The trial checks the same limits first, so only forged rows exceed them here. */
export class SeriesLimits {
  readonly #names = new Set<string>();
  #values = 0;

  /** Counts a row. Returns false, without counting it, if it exceeds a limit. */
  admits(row: LoggedRow): boolean {
    const fresh = row.values.filter(([name]) => !this.#names.has(name));
    const names = this.#names.size + fresh.length;
    const values = this.#values + row.values.length;
    if (names > MAX_SERIES || values > MAX_SERIES_VALUES) return false;
    for (const [name] of fresh) this.#names.add(name);
    this.#values = values;
    return true;
  }
}

/** Rows that wait to be sent in one message, column by column. */
export class SeriesBatch {
  #steps: number[] = [];
  #columns = new Map<string, Value[]>();

  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  /** Adds a row. Returns false, without adding it, if the row needs a separate message. */
  add(row: LoggedRow): boolean {
    const last = this.#steps.at(-1) ?? -1;
    if (row.step < last) return false;
    const place = row.step === last ? this.#steps.length - 1 : this.#steps.length;
    // Rows of the same step are joined, but not if a series would then have two values at that step.
    if (row.values.some(([name]) => (this.#columns.get(name)?.length ?? 0) > place)) return false;
    const fresh = row.values.filter(([name]) => !this.#columns.has(name)).length;
    const columns = this.#columns.size + fresh;
    const isTooMuch = place >= MAX_SERIES_ROWS || (place + 1) * columns > MOST_CELLS;
    if (isTooMuch && !this.isEmpty) return false;
    if (place === this.#steps.length) this.#steps.push(row.step);
    for (const [name, value] of row.values) {
      const column = this.#columns.get(name) ?? [];
      while (column.length < place) column.push(null);
      column.push(value);
      this.#columns.set(name, column);
    }
    return true;
  }

  /** Returns the rows in the form of a message, and forgets them. */
  take(): Series {
    const series = { steps: this.#steps, columns: [...this.#columns] };
    this.#steps = [];
    this.#columns = new Map();
    return series;
  }
}
