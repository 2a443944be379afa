// The console's rows (server/docs/rest.md), checked once at the edge: raw JSON goes no further. Page thread; pure.

import type { Point } from "../ui/curve.ts";
import { type Param, paramsOf } from "./params.ts";

export const studyStates = ["running", "finished", "cancelled"] as const;
export type StudyState = (typeof studyStates)[number];
export const trialStates = ["running", "complete", "pruned", "failed", "cancelled"] as const;
export type TrialState = (typeof trialStates)[number];
export const attemptStates = [
  "live",
  "accepted",
  "evidence",
  "failed",
  "released",
  "expired",
  "revoked",
] as const;
export type AttemptState = (typeof attemptStates)[number];

export interface Best {
  readonly trial: number;
  readonly value: number;
  readonly params: readonly Param[];
}

export interface StudyRow {
  readonly study: number;
  readonly name: string;
  readonly owner: string;
  readonly project: string;
  readonly state: StudyState;
  /** It runs, and nothing of it is given to devices. */
  readonly isPaused: boolean;
  readonly direction: "minimize" | "maximize";
  readonly total: number;
  readonly complete: number;
  readonly pruned: number;
  readonly failed: number;
  readonly running: number;
  readonly attempts: number;
  readonly cursor: number;
  readonly entry: string;
  readonly seed: number;
  /** Unix ms. */
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** Names of the space's dimensions, in order. */
  readonly names: readonly string[];
  readonly chainer: string;
  /** What its trials ask for; null: no device. */
  readonly backend: string | null;
  /** What a device must have beyond that, as the server writes it. */
  readonly hasRequirements: boolean;
  readonly best: Best | null;
}

export interface DeviceRow {
  readonly device: string;
  readonly class: string;
  readonly engine: string;
  readonly backend: string;
  /** Empty where it was no graphics device. */
  readonly adapter: string;
}

/** Which of the connected devices may run a study's trials, and why others may not. */
export interface PlacementRow {
  readonly devices: number;
  readonly matching: number;
  readonly reasons: readonly { readonly code: string; readonly devices: number }[];
}

export interface FailureRow {
  readonly cause: string;
  readonly code: string;
  readonly message: string;
  readonly traceback: string;
}

export interface TrialRow {
  readonly trial: number;
  readonly state: TrialState;
  readonly params: readonly Param[];
  readonly seed: number;
  readonly values: readonly number[];
  readonly attempts: number;
  readonly device: DeviceRow | null;
  readonly startedAt: number;
  /** 0: not yet. */
  readonly finishedAt: number;
  readonly runMs: number;
  readonly loadMs: number;
  readonly seq: number;
  readonly error: FailureRow | null;
}

export interface AttemptRow {
  readonly attempt: number;
  readonly kind: string;
  readonly state: AttemptState;
  readonly device: DeviceRow;
  readonly values: readonly number[];
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly runMs: number;
  readonly loadMs: number;
  readonly error: FailureRow | null;
}

export interface TrialDetail extends TrialRow {
  readonly points: readonly Point[];
  readonly attemptsList: readonly AttemptRow[];
}

/** A file that a trial uploaded. */
export interface ArtifactRow {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
}

export interface WorkerRow {
  readonly device: string;
  readonly class: string;
  readonly engine: string;
  readonly trial: number | null;
  readonly study: number | null;
}

export interface Me {
  readonly name: string;
  readonly role: "admin" | "researcher";
  readonly server: string;
}

/** The answer is none that this page understands. */
export class RowError extends Error {
  readonly code = "bad_answer";
}

/** Reads one JSON object field by field; a field of another kind is a RowError. */
class Fields {
  readonly #object: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new RowError("An object was expected.");
    }
    this.#object = value as Record<string, unknown>;
  }

  has(key: string): boolean {
    return this.#object[key] !== undefined;
  }

  raw(key: string): unknown {
    return this.#object[key];
  }

  text(key: string): string {
    const value = this.#object[key];
    if (typeof value !== "string") {
      throw new RowError(`${key} is no string.`);
    }
    return value;
  }

  number(key: string): number {
    const value = this.#object[key];
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw new RowError(`${key} is no number.`);
    }
    return value;
  }

  oneOf<Name extends string>(key: string, names: readonly Name[]): Name {
    const value = names.find((name) => name === this.#object[key]);
    if (value === undefined) {
      throw new RowError(`${key} is none of ${names.join(", ")}.`);
    }
    return value;
  }

  list<Item>(key: string, item: (value: unknown) => Item): readonly Item[] {
    const value = this.#object[key];
    if (!Array.isArray(value)) {
      throw new RowError(`${key} is no list.`);
    }
    return value.map(item);
  }
}

function numberOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new RowError("A number was expected.");
  }
  return value;
}

function pointOf(value: unknown): Point {
  if (!Array.isArray(value)) {
    throw new RowError("A point was expected.");
  }
  return [numberOf(value[0]), numberOf(value[1])];
}

function deviceOf(value: unknown): DeviceRow {
  const row = new Fields(value);
  return {
    device: row.text("device"),
    class: row.text("class"),
    engine: row.text("engine"),
    backend: row.text("backend"),
    adapter: row.has("adapter") ? row.text("adapter") : "",
  };
}

function failureOf(value: unknown): FailureRow {
  const row = new Fields(value);
  return {
    cause: row.text("cause"),
    code: row.text("code"),
    message: row.text("message"),
    traceback: row.text("traceback"),
  };
}

export function studyOf(value: unknown): StudyRow {
  const row = new Fields(value);
  const best = row.has("best") ? new Fields(row.raw("best")) : null;
  const runtime = new Fields(row.raw("runtime"));
  return {
    study: row.number("study"),
    name: row.text("name"),
    owner: row.text("owner"),
    project: row.text("project"),
    state: row.oneOf("state", studyStates),
    isPaused: row.has("paused"),
    direction: row.oneOf("direction", ["minimize", "maximize"]),
    total: row.number("total"),
    complete: row.number("complete"),
    pruned: row.number("pruned"),
    failed: row.number("failed"),
    running: row.number("running"),
    attempts: row.number("attempts"),
    cursor: row.number("cursor"),
    entry: row.text("entry"),
    seed: row.number("seed"),
    createdAt: row.number("created_at"),
    finishedAt: row.has("finished_at") ? row.number("finished_at") : null,
    names: row.list("space", (dimension) => new Fields(dimension).text("name")),
    chainer: runtime.text("chainer"),
    backend: runtime.has("backend") ? runtime.text("backend") : null,
    hasRequirements: row.has("requires"),
    best:
      best === null
        ? null
        : {
            trial: best.number("trial"),
            value: best.number("value"),
            params: paramsOf(best.text("params")),
          },
  };
}

export function trialOf(value: unknown): TrialRow {
  const row = new Fields(value);
  return {
    trial: row.number("trial"),
    state: row.oneOf("state", trialStates),
    params: paramsOf(row.text("params")),
    seed: row.number("seed"),
    values: row.list("values", numberOf),
    attempts: row.number("attempts"),
    device: row.has("device") ? deviceOf(row.raw("device")) : null,
    startedAt: row.number("started_at"),
    finishedAt: row.number("finished_at"),
    runMs: row.number("run_ms"),
    loadMs: row.number("load_ms"),
    seq: row.number("seq"),
    error: row.has("error") ? failureOf(row.raw("error")) : null,
  };
}

function attemptOf(value: unknown): AttemptRow {
  const row = new Fields(value);
  return {
    attempt: row.number("attempt"),
    kind: row.text("kind"),
    state: row.oneOf("state", attemptStates),
    device: deviceOf(row.raw("device")),
    values: row.list("values", numberOf),
    startedAt: row.number("started_at"),
    finishedAt: row.number("finished_at"),
    runMs: row.number("run_ms"),
    loadMs: row.number("load_ms"),
    error: row.has("error") ? failureOf(row.raw("error")) : null,
  };
}

export function detailOf(value: unknown): TrialDetail {
  const row = new Fields(value);
  return {
    ...trialOf(value),
    points: row.list("points", pointOf),
    attemptsList: row.list("attempts_list", attemptOf),
  };
}

export function artifactsOf(value: unknown): readonly ArtifactRow[] {
  return new Fields(value).list("artifacts", (one) => {
    const row = new Fields(one);
    return { id: row.text("id"), name: row.text("name"), bytes: row.number("bytes") };
  });
}

export function studiesOf(value: unknown): readonly StudyRow[] {
  return new Fields(value).list("studies", studyOf);
}

export function trialsOf(value: unknown): { trials: readonly TrialRow[]; cursor: number } {
  const page = new Fields(value);
  return { trials: page.list("trials", trialOf), cursor: page.number("cursor") };
}

export function workersOf(value: unknown): readonly WorkerRow[] {
  return new Fields(value).list("workers", (one) => {
    const row = new Fields(one);
    return {
      device: row.text("device"),
      class: row.text("class"),
      engine: row.text("engine"),
      trial: row.has("trial") ? row.number("trial") : null,
      study: row.has("study") ? row.number("study") : null,
    };
  });
}

export function placementOf(value: unknown): PlacementRow {
  const row = new Fields(value);
  return {
    devices: row.number("devices"),
    matching: row.number("matching"),
    reasons: row.list("reasons", (one) => {
      const reason = new Fields(one);
      return { code: reason.text("code"), devices: reason.number("devices") };
    }),
  };
}

export function meOf(value: unknown): Me {
  const row = new Fields(value);
  return {
    name: row.text("name"),
    role: row.oneOf("role", ["admin", "researcher"]),
    server: row.text("server"),
  };
}

export function joinUrlOf(value: unknown): string {
  return new Fields(value).text("join_url");
}
