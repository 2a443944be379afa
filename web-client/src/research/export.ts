// Writes a study's trials as CSV (RFC 4180) and as JSON. Page thread; pure.

import { paramText } from "./params.ts";
import type { StudyRow, TrialRow } from "./rows.ts";
import { columnsOf, paramNamed } from "./trials_model.ts";

/** Spreadsheets run a text that begins like this as a formula, and some texts here come from volunteers' devices. */
const FORMULA = /^[=+\-@\t\r]/;

function textCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
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
  const head = [
    ...["trial", "state"],
    ...values.map((index) => (values.length === 1 ? "value" : `value_${index}`)),
    ...names.map((name) => `param_${name}`),
    ...["seed", "attempts", "device", "class", "engine", "backend", "adapter"],
    ...["started_at", "finished_at", "run_ms", "load_ms"],
    ...["error_cause", "error_code", "error_message"],
  ];
  const rows = byNumber(trials).map((trial) => [
    ...[String(trial.trial), trial.state],
    ...values.map((index) => String(trial.values[index] ?? "")),
    ...names.map((name) => {
      const param = paramNamed(trial, name);
      if (param === undefined) {
        return "";
      }
      // Numbers are written as they are, even `-1`.
      return typeof param.value === "string" ? textCell(paramText(param)) : param.raw;
    }),
    ...[String(trial.seed), String(trial.attempts)],
    ...(["device", "class", "engine", "backend", "adapter"] as const).map((key) =>
      textCell(trial.device?.[key] ?? ""),
    ),
    ...[timeCell(trial.startedAt), timeCell(trial.finishedAt)],
    ...[String(trial.runMs), String(trial.loadMs)],
    ...(["cause", "code", "message"] as const).map((key) => textCell(trial.error?.[key] ?? "")),
  ]);
  return `${[head.map(textCell), ...rows].map((row) => row.join(",")).join("\r\n")}\r\n`;
}

/** Returns the trials as JSON. Parameters keep the text that Python wrote. */
export function jsonOf(study: StudyRow, trials: readonly TrialRow[]): string {
  const { names, best, ...head } = study;
  const rows = byNumber(trials).map(({ params, ...rest }) => {
    const members = params.map(({ name, raw }) => `${JSON.stringify(name)}: ${raw}`).join(", ");
    return `    {"params": {${members}}, ${JSON.stringify(rest).slice(1)}`;
  });
  const summary = JSON.stringify({ ...head, names, best_trial: best?.trial ?? null });
  return `{\n  "study": ${summary},\n  "trials": [\n${rows.join(",\n")}\n  ]\n}\n`;
}

/** Returns a file name without special characters. */
export function fileName(study: StudyRow, extension: "csv" | "json"): string {
  const name = study.name.replace(/[^\p{L}\p{N}_-]+/gu, "_").slice(0, 80);
  return `${name}-${study.study}.${extension}`;
}
