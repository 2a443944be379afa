// Writes a study's trials as CSV (RFC 4180) and as JSON. Page thread; pure.

import { columnsOf, paramNamed } from "../trials/columns.ts";
import { type Param, paramText } from "./params.ts";
import type { StudyRow, TrialRow } from "./rows.ts";

/** Matches texts that spreadsheets would run as a formula. Some texts come from volunteers' devices. */
const FORMULA = /^[=+\-@\t\r]/;

/** Returns a text as a cell of a CSV file. */
export function textCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns a cell of the CSV file. A number is never changed, though FORMULA matches `-1`. */
function cellOf(param: Param): string {
  return typeof param.value === "number" ? param.raw : textCell(paramText(param));
}

/** Returns all names in the lists, each once, in the order of their first occurrence. */
function namesIn(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

function timeCell(ms: number): string {
  return ms === 0 ? "" : new Date(ms).toISOString();
}

function byNumber(trials: readonly TrialRow[]): readonly TrialRow[] {
  return [...trials].sort((a, b) => a.trial - b.trial);
}

export function csvOf(study: StudyRow, trials: readonly TrialRow[]): string {
  const columns = columnsOf(study.names, trials);
  const names = columns.flatMap((column) => (column.kind === "param" ? [column.name] : []));
  const values = columns.flatMap((column) => (column.kind === "value" ? [column.index] : []));
  const summaries = namesIn(trials.map(({ summary }) => summary.map(([name]) => name)));
  const attributes = namesIn(trials.map(({ attributes }) => attributes.map(({ name }) => name)));
  const hasVersions = study.codeVersion > 1;
  const head = [
    ...["trial", "state"],
    ...(hasVersions ? ["code_version"] : []),
    ...values.map((index) => (values.length === 1 ? "value" : `value_${index}`)),
    ...names.map((name) => `param_${name}`),
    ...["seed", "attempts", "device", "class", "engine", "backend", "adapter"],
    ...["started_at", "finished_at", "run_ms", "load_ms"],
    ...["error_cause", "error_code", "error_message"],
    ...summaries.map((name) => `summary_${name}`),
    ...attributes.map((name) => `user_attrs_${name}`),
  ];
  const rows = byNumber(trials).map((trial) => [
    ...[String(trial.trial), trial.state],
    ...(hasVersions ? [String(trial.codeVersion)] : []),
    ...values.map((index) => String(trial.values[index] ?? "")),
    ...names.map((name) => {
      const param = paramNamed(trial, name);
      return param === undefined ? "" : cellOf(param);
    }),
    ...[String(trial.seed), String(trial.attempts)],
    ...(["device", "class", "engine", "backend", "adapter"] as const).map((key) =>
      textCell(trial.device?.[key] ?? ""),
    ),
    ...[timeCell(trial.startedAt), timeCell(trial.finishedAt)],
    ...[String(trial.runMs), String(trial.loadMs)],
    ...(["cause", "code", "message"] as const).map((key) => textCell(trial.error?.[key] ?? "")),
    ...summaries.map((name) => String(new Map(trial.summary).get(name) ?? "")),
    ...attributes.map((name) => {
      const found = trial.attributes.find((one) => one.name === name);
      return found === undefined ? "" : cellOf(found);
    }),
  ]);
  return `${[head.map(textCell), ...rows].map((row) => row.join(",")).join("\r\n")}\r\n`;
}

function objectOf(members: readonly Param[]): string {
  return `{${members.map(({ name, raw }) => `${JSON.stringify(name)}: ${raw}`).join(", ")}}`;
}

/** Returns NaN and infinities as their names, because JSON does not have them. */
function finiteOrName([name, value]: readonly [string, number]): [string, number | string] {
  return [name, Number.isFinite(value) ? value : String(value)];
}

/** Returns the trials as JSON. Parameters keep the text that Python wrote. */
export function jsonOf(study: StudyRow, trials: readonly TrialRow[]): string {
  const { names, best, ...head } = study;
  const rows = byNumber(trials).map(
    ({ params, distributions, exactValues, attributes, summary, ...rest }) => {
      const told = { ...rest, summary: Object.fromEntries(summary.map(finiteOrName)) };
      const parts = `"params": ${objectOf(params)}, "user_attrs": ${objectOf(attributes)}`;
      return `    {${parts}, ${JSON.stringify(told).slice(1)}`;
    },
  );
  const summary = JSON.stringify({ ...head, names, best_trial: best?.trial ?? null });
  return `{\n  "study": ${summary},\n  "trials": [\n${rows.join(",\n")}\n  ]\n}\n`;
}

/** Returns the name of a study's files without special characters, and without an extension. */
export function fileStem({ name, study }: Pick<StudyRow, "name" | "study">, part = ""): string {
  const clean = (text: string) => text.replace(/[^\p{L}\p{N}_-]+/gu, "_").slice(0, 80);
  return `${clean(name)}-${study}${part === "" ? "" : `-${clean(part)}`}`;
}

export function fileName(study: StudyRow, extension: "csv" | "json"): string {
  return `${fileStem(study)}.${extension}`;
}
