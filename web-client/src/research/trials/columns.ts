// The columns of the trials table, and what each shows: the name, the value by which it sorts and filters, the short text
// of a cell and the full one. Page thread; pure.

import type { Param } from "../model/params.ts";
import { paramText } from "../model/params.ts";
import type { TrialRow } from "../model/rows.ts";

export type Column =
  | { readonly kind: "trial" | "state" | "device" | "run" | "attempts" | "finished" }
  | { readonly kind: "param"; readonly name: string }
  | { readonly kind: "value"; readonly index: number };

/** The number of parameters that have a column before the reader chooses columns. */
export const FIRST_PARAMS = 12;

export function columnKey(column: Column): string {
  switch (column.kind) {
    case "param":
      return `param:${column.name}`;
    case "value":
      return `value:${column.index}`;
    default:
      return column.kind;
  }
}

/** Returns the table's columns. Each parameter and each objective value that any trial has gets a column. */
export function columnsOf(
  names: readonly string[],
  trials: readonly TrialRow[],
): readonly Column[] {
  const found = new Set(names);
  let values = 1;
  for (const { params, values: own } of trials) {
    values = Math.max(values, own.length);
    for (const { name } of params) {
      found.add(name);
    }
  }
  return [
    { kind: "trial" },
    { kind: "state" },
    ...Array.from({ length: values }, (_, index) => ({ kind: "value", index }) as const),
    ...[...found].map((name) => ({ kind: "param", name }) as const),
    { kind: "device" },
    { kind: "run" },
    { kind: "attempts" },
    { kind: "finished" },
  ];
}

/** Returns the keys of the columns that are shown before the reader chooses. */
export function firstKeys(columns: readonly Column[]): readonly string[] {
  let params = 0;
  return columns
    .filter(({ kind }) => {
      params += kind === "param" ? 1 : 0;
      return kind !== "param" || params <= FIRST_PARAMS;
    })
    .map(columnKey);
}

export function paramNamed(trial: TrialRow, name: string): Param | undefined {
  return trial.params.find((param) => param.name === name);
}

/** Returns a function that finds a parameter. It looks first where the last trial had it, because most have it there. */
export function paramReader(name: string): (trial: TrialRow) => Param | undefined {
  let at = 0;
  return ({ params }) => {
    if (params[at]?.name === name) {
      return params[at];
    }
    const found = params.findIndex((param) => param.name === name);
    if (found < 0) {
      return undefined;
    }
    at = found;
    return params[found];
  };
}

/** Returns a function that reads the value by which the column sorts a trial; undefined if the trial has none. */
export function cellReader(column: Column): (trial: TrialRow) => unknown {
  switch (column.kind) {
    case "trial":
      return (row) => row.trial;
    case "state":
      return (row) => row.state;
    case "device":
      return (row) => row.device?.class;
    case "run":
      return (row) => (row.runMs === 0 ? undefined : row.runMs);
    case "attempts":
      return (row) => row.attempts;
    case "finished":
      return (row) => (row.finishedAt === 0 ? undefined : row.finishedAt);
    case "param": {
      const read = paramReader(column.name);
      return (row) => read(row)?.value;
    }
    case "value":
      return (row) => row.values[column.index];
    default:
      return column satisfies never;
  }
}

/** Whole numbers below this keep all their digits. */
const WHOLE = 1e7;
/** A parameter's text of at most this length is shown as Python wrote it. */
const RAW_CHARS = 7;

/**
 * Returns a number with four significant digits, the same in every language. Whole numbers below ten million keep all
 * digits, and larger fractions keep those before the point, because a zero in place of a digit would be read as one.
 */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) {
    return String(value);
  }
  if (size < WHOLE && (Number.isInteger(value) || size >= 1e4)) {
    return String(Math.round(value));
  }
  return size >= 1e-4 && size < 1e4
    ? String(Number(value.toPrecision(4)))
    : Number(value.toPrecision(4)).toExponential();
}

/** Returns a parameter's text for a narrow column. Only long numbers are shortened. */
export function shortParam(param: Param): string {
  return typeof param.value === "number" && param.raw.length > RAW_CHARS
    ? shortNumber(param.value)
    : paramText(param);
}
