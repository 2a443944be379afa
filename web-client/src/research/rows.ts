// The console's rows (server/docs/rest.md) in the form that this page uses. Each answer is checked once, by the protocol's
// schema; raw JSON goes no further. Page thread; pure.

import * as wire from "@hyperflock/worker-runtime/rows";
import { RowError, readRow } from "@hyperflock/worker-runtime/rows";
import { paramsOf } from "./params.ts";

export { RowError };

export type StudyState = wire.StudyState;
export type TrialState = wire.TrialState;
export type AttemptState = wire.AttemptState;
export const trialStates = wire.trialState.options;

export type StudyRow = ReturnType<typeof studyView>;
export type TrialRow = ReturnType<typeof trialView>;
export type TrialDetail = ReturnType<typeof detailOf>;
export type AttemptRow = ReturnType<typeof attemptView>;
export type DeviceRow = ReturnType<typeof deviceView>;
export type WorkerRow = ReturnType<typeof workerView>;
export type FailureRow = Readonly<wire.Failure>;
/** A file that a trial uploaded. */
export type ArtifactRow = Readonly<Pick<wire.ArtifactRow, "id" | "name" | "bytes">>;
/** Which of the connected devices may run a study's trials, and why others may not. */
export type PlacementRow = Readonly<wire.Placement>;
export type Me = Readonly<wire.Me>;

function deviceView({ device, class: kind, engine, backend, adapter = "" }: wire.DeviceRow) {
  // `adapter` is empty without a graphics device.
  return { device, class: kind, engine, backend, adapter } as const;
}

function studyView(row: wire.StudyRow) {
  return {
    study: row.study,
    name: row.name,
    owner: row.owner,
    project: row.project,
    state: row.state,
    /** The study is running, but no device gets its trials. */
    isPaused: row.paused !== undefined,
    direction: row.direction,
    total: row.total,
    complete: row.complete,
    pruned: row.pruned,
    failed: row.failed,
    running: row.running,
    attempts: row.attempts,
    cursor: row.cursor,
    entry: row.entry,
    seed: row.seed,
    /** Unix ms. */
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? null,
    /** Names of the space's dimensions, in order. */
    names: row.space.map((dimension) => dimension.name),
    chainer: row.runtime.chainer,
    /** The back end that its trials ask for; null: they ask for no device. */
    backend: row.runtime.backend ?? null,
    /** Whether a device must have more than the back end. */
    hasRequirements: row.requires !== undefined,
    best: row.best === undefined ? null : { ...row.best, params: paramsOf(row.best.params) },
  } as const;
}

function trialView(row: wire.TrialRow) {
  return {
    trial: row.trial,
    state: row.state,
    params: paramsOf(row.params),
    seed: row.seed,
    values: row.values as readonly number[],
    attempts: row.attempts,
    device: row.device === undefined ? null : deviceView(row.device),
    startedAt: row.started_at,
    /** 0: not finished yet. */
    finishedAt: row.finished_at,
    runMs: row.run_ms,
    loadMs: row.load_ms,
    seq: row.seq,
    error: (row.error ?? null) as FailureRow | null,
  } as const;
}

function attemptView(row: wire.AttemptRow) {
  return {
    attempt: row.attempt,
    kind: row.kind,
    state: row.state,
    device: deviceView(row.device),
    values: row.values as readonly number[],
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    runMs: row.run_ms,
    loadMs: row.load_ms,
    error: (row.error ?? null) as FailureRow | null,
  } as const;
}

function workerView(row: wire.WorkerRow) {
  const { device, class: kind, engine, trial = null, study = null } = row;
  return { device, class: kind, engine, trial, study } as const;
}

export const studyOf = (value: unknown) => studyView(readRow(wire.studyRow, value));

export const trialOf = (value: unknown) => trialView(readRow(wire.trialRow, value));

/** Returns a trial with its curve and its attempts. */
export function detailOf(value: unknown) {
  const row = readRow(wire.trialRow, value);
  if (row.points === undefined || row.attempts_list === undefined) {
    throw new RowError("points and attempts_list are missing.");
  }
  return {
    ...trialView(row),
    points: row.points as readonly wire.Point[],
    attemptsList: row.attempts_list.map(attemptView) as readonly AttemptRow[],
  } as const;
}

export function artifactsOf(value: unknown): readonly ArtifactRow[] {
  return readRow(wire.artifactsPage, value).artifacts;
}

export function studiesOf(value: unknown): readonly StudyRow[] {
  return readRow(wire.studiesPage, value).studies.map(studyView);
}

export function trialsOf(value: unknown): { trials: readonly TrialRow[]; cursor: number } {
  const { trials, cursor } = readRow(wire.trialsPage, value);
  return { trials: trials.map(trialView), cursor };
}

export function workersOf(value: unknown): readonly WorkerRow[] {
  return readRow(wire.workersPage, value).workers.map(workerView);
}

export const placementOf = (value: unknown): PlacementRow => readRow(wire.placement, value);

export const meOf = (value: unknown): Me => readRow(wire.me, value);

export const joinUrlOf = (value: unknown): string => readRow(wire.enrolment, value).join_url;
