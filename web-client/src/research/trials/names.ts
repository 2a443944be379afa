// The names that a filter knows: those of the columns of the CSV export, and each parameter by its own name. Page thread;
// pure.

import type { TrialRow } from "../model/rows.ts";
import { paramReader } from "./columns.ts";
import type { Read } from "./filter.ts";

const time = (ms: number) => (ms === 0 ? undefined : new Date(ms).toISOString());
const unlessZero = (value: number) => (value === 0 ? undefined : value);

const FIELDS: ReadonlyMap<string, Read<TrialRow>> = new Map<string, Read<TrialRow>>([
  ["trial", (row) => row.trial],
  ["state", (row) => row.state],
  ["value", (row) => row.values[0]],
  ["feasible", (row) => (row.state === "complete" ? !row.isInfeasible : undefined)],
  ["seed", (row) => row.seed],
  ["attempts", (row) => row.attempts],
  ["code_version", (row) => row.codeVersion],
  ["device", (row) => row.device?.device],
  ["class", (row) => row.device?.class],
  ["engine", (row) => row.device?.engine],
  ["backend", (row) => row.device?.backend],
  ["adapter", (row) => row.device?.adapter],
  ["started_at", (row) => time(row.startedAt)],
  ["finished_at", (row) => time(row.finishedAt)],
  ["run_ms", (row) => unlessZero(row.runMs)],
  ["load_ms", (row) => unlessZero(row.loadMs)],
  ["error_cause", (row) => row.error?.cause],
  ["error_code", (row) => row.error?.code],
  ["error_message", (row) => row.error?.message],
]);

const VALUE = /^value_(\d{1,3})$/;

export interface KnownNames {
  readonly params: ReadonlySet<string>;
  /** The number of objectives. */
  readonly values: number;
  /** The numbers of the best trials. */
  readonly best: ReadonlySet<number>;
}

/** Returns how a name is read from a trial; null if nothing has this name. A field comes before a parameter. */
export function readerNamed(name: string, known: KnownNames): Read<TrialRow> | null {
  const { params, values } = known;
  if (name === "best") {
    const { best } = known;
    return (row) => best.has(row.trial);
  }
  const field = FIELDS.get(name);
  if (field !== undefined) {
    return field;
  }
  const index = Number(VALUE.exec(name)?.[1] ?? "NaN");
  if (index < values) {
    return (row) => row.values[index];
  }
  const param = params.has(name) ? name : name.replace(/^param_/, "");
  if (params.has(param)) {
    const read = paramReader(param);
    return (row) => read(row)?.value;
  }
  if (name.startsWith("user_attrs_")) {
    const attribute = name.slice("user_attrs_".length);
    return (row) => row.attributes.find((one) => one.name === attribute)?.value;
  }
  if (name.startsWith("summary_")) {
    const summary = name.slice("summary_".length);
    return (row) => row.summary.find(([own]) => own === summary)?.[1];
  }
  return null;
}

/** The names of the fields that every trial has. */
export const fieldNames: readonly string[] = [...FIELDS.keys(), "best"];
