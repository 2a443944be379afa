// The model of the trials table: its columns, filter and sorting, and one page of its rows. Page thread; pure.

import type { Param } from "./params.ts";
import type { StudyRow, TrialRow, TrialState } from "./rows.ts";

export const ROWS_PER_PAGE = 25;

export type FilterState = TrialState | "all";

export type Column =
  | { readonly kind: "trial" | "state" | "device" | "run" | "attempts" | "finished" }
  | { readonly kind: "param"; readonly name: string }
  | { readonly kind: "value"; readonly index: number };

export interface Sort {
  /** The column by which rows are sorted, in the form that `columnKey` returns. */
  readonly key: string;
  readonly descending: boolean;
}

export interface TableInput {
  readonly trials: readonly TrialRow[];
  readonly names: readonly string[];
  readonly filter: FilterState;
  readonly sort: Sort;
  /** The index of the table's page, from 0. */
  readonly page: number;
}

export interface TableView {
  readonly columns: readonly Column[];
  readonly rows: readonly TrialRow[];
  readonly matching: number;
  readonly page: number;
  readonly pages: number;
}

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

export function paramNamed(trial: TrialRow, name: string): Param | undefined {
  return trial.params.find((param) => param.name === name);
}

/** Returns the value by which a column sorts the trial; undefined if the trial has no such value. */
export function cellOf(trial: TrialRow, column: Column): unknown {
  switch (column.kind) {
    case "trial":
      return trial.trial;
    case "state":
      return trial.state;
    case "device":
      return trial.device?.class;
    case "run":
      return trial.runMs === 0 ? undefined : trial.runMs;
    case "attempts":
      return trial.attempts;
    case "finished":
      return trial.finishedAt === 0 ? undefined : trial.finishedAt;
    case "param":
      return paramNamed(trial, column.name)?.value;
    case "value":
      return trial.values[column.index];
    default:
      return column satisfies never;
  }
}

/** The order of types: numbers before booleans, booleans before strings, and strings before null. */
const KINDS = ["number", "boolean", "string"] as const;

function kindOf(value: unknown): number {
  const kind = KINDS.indexOf(typeof value as (typeof KINDS)[number]);
  return kind < 0 ? KINDS.length : kind;
}

function compare(a: unknown, b: unknown): number {
  const kinds = kindOf(a) - kindOf(b);
  if (kinds !== 0) {
    return kinds;
  }
  if (typeof a === "string" && typeof b === "string") {
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const [x, y] = [Number(a), Number(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

export function tableView({ trials, names, filter, sort, page }: TableInput): TableView {
  const columns = columnsOf(names, trials);
  const column = columns.find((one) => columnKey(one) === sort.key) ?? { kind: "trial" };
  const matching = filter === "all" ? [...trials] : trials.filter(({ state }) => state === filter);
  const sign = sort.descending ? -1 : 1;
  matching.sort((a, b) => {
    const [x, y] = [cellOf(a, column), cellOf(b, column)];
    if (x === undefined || y === undefined) {
      // Rows without a value are last, whether the order is ascending or descending.
      return x === y ? a.trial - b.trial : x === undefined ? 1 : -1;
    }
    return sign * compare(x, y) || a.trial - b.trial;
  });
  const pages = Math.max(1, Math.ceil(matching.length / ROWS_PER_PAGE));
  const shown = Math.min(Math.max(0, page), pages - 1);
  return {
    columns,
    rows: matching.slice(shown * ROWS_PER_PAGE, (shown + 1) * ROWS_PER_PAGE),
    matching: matching.length,
    page: shown,
    pages,
  };
}

/** Returns the sorting after a press on a column. The first press puts the best, or else the smallest, value on top. */
export function sortAfterPress(sort: Sort, key: string, direction: StudyRow["direction"]): Sort {
  return sort.key === key
    ? { key, descending: !sort.descending }
    : { key, descending: key.startsWith("value:") && direction === "maximize" };
}
