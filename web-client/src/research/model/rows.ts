// Converts the console's rows (server/docs/rest.md) to the form that this page uses. Each answer is checked once, by the
// protocol's schema; other code never sees raw JSON. Page thread; pure.

import * as wire from "@hyperflock/worker-runtime/rows";
import { RowError, readRow } from "@hyperflock/worker-runtime/rows";
import type { Point } from "../../ui/curve.ts";
import { type Distributions, distributionsOf, spaceOf } from "./distribution.ts";
import { type Attached, attachedOf, paramsOf } from "./params.ts";

export { RowError };

export type StudyState = wire.StudyState;
export type TrialState = wire.TrialState;
export type AttemptState = wire.AttemptState;
export const trialStates = wire.trialState.options;

export type StudyRow = ReturnType<typeof studyView>;
export type TrialRow = ReturnType<typeof trialView>;
export type TrialDetail = ReturnType<typeof detailOf>;
/** The id and the name of a series that trials of a study logged. */
export interface SeriesName {
  readonly id: number;
  readonly name: string;
}
/** A series of a trial. A value may be NaN or infinite. */
export interface NamedLine {
  readonly name: string;
  readonly points: readonly Point[];
}
export interface TrialSeries {
  readonly trial: number;
  readonly series: readonly NamedLine[];
}
export type AttemptRow = ReturnType<typeof attemptView>;
export type DeviceRow = ReturnType<typeof deviceView>;
/** The host to which a study's events are posted, and the newest event with its delivery. */
export type WebhookRow = ReturnType<typeof webhookView>;
export type WebhookEvent = wire.WebhookEvent;
export type DeliveryState = wire.DeliveryState;
export type WorkerRow = ReturnType<typeof workerView>;
export type FailureRow = Readonly<wire.Failure>;
export type RejectionRow = Readonly<wire.RejectionRow>;
/** Selects attempts of a study. All conditions must hold. */
export interface Selection {
  readonly device?: string;
  readonly trial?: number;
}
/** A file that a trial uploaded. */
export type ArtifactRow = Readonly<Pick<wire.ArtifactRow, "id" | "name" | "bytes">>;
/** The connected devices that may run a study's trials, and the reasons why others may not. */
export type PlacementRow = Readonly<wire.Placement>;
export type Me = Readonly<wire.Me>;
/** Why an administrator lets nothing of a study run. */
export type HeldRow = Readonly<wire.HeldRow>;
export type ProjectRow = ReturnType<typeof projectView>;
export type PersonRow = ReturnType<typeof personView>;
/** What an administrator changes about a person. Only what is given changes. */
export interface PersonChange {
  readonly state?: Exclude<wire.PersonState, "pending">;
  /** Why the person is refused or suspended. */
  readonly reason?: string;
  readonly quota?: Partial<wire.QuotaRow>;
}
export type BarredRow = Readonly<wire.BarredRow>;
/** Limits of the server, of a researcher or of a project. null: not set; 0: no limit. */
export interface CeilingRow {
  readonly scope: wire.CeilingScope;
  readonly name?: string;
  readonly timeLimitMs: number | null;
  readonly devices: number | null;
  readonly dataBytes: number | null;
  readonly approval: boolean | null;
}

/** How much of the devices a researcher or a project gets (R70). */
export interface ShareRow {
  readonly scope: "researcher" | "project";
  readonly name: string;
  /** null: the usual weight, which is 100. */
  readonly weight: number | null;
  readonly guaranteed: number;
  /** The projects that may use this project's idle devices; "*" is every project. */
  readonly lends: readonly string[];
}

function deviceView({ device, class: kind, engine, backend, adapter = "" }: wire.DeviceRow) {
  // `adapter` is empty if the device offers no graphics processor.
  return { device, class: kind, engine, backend, adapter } as const;
}

function estimateView(row: wire.EstimateRow) {
  return {
    devices: row.devices,
    /** The time in ms until the study ends, if this number of devices continues; null if unknown. */
    leftMs: row.left_ms ?? null,
    /** The computing time in ms that the study still needs on all devices together; null if unknown. */
    deviceMs: row.device_ms ?? null,
    /** The reason why `leftMs` is unknown; empty if it is known. */
    why: row.why ?? "",
  } as const;
}

function webhookView({ host, last }: wire.WebhookRow) {
  return {
    host,
    /** The newest event; null before the first one. */
    last:
      last === undefined
        ? null
        : ({
            event: last.event,
            at: last.at,
            state: last.state,
            attempts: last.attempts,
            nextAt: last.next_at ?? null,
            /** The HTTP status of the last answer; null without an answer. */
            status: last.status ?? null,
            /** The reason why the event was not delivered. Empty if it was delivered, or not yet tried. */
            code: last.code ?? "",
            message: last.message ?? "",
          } as const),
  } as const;
}

function studyView(row: wire.StudyRow) {
  return {
    study: row.study,
    name: row.name,
    owner: row.owner,
    project: row.project,
    state: row.state,
    /** Whether the study is paused: it is running, but no device gets its trials. */
    isPaused: row.paused !== undefined,
    /** The failure because of which the study paused itself; null if it did not. */
    stoppedBy: (row.stopped_by ?? null) as Readonly<wire.StopRow> | null,
    held: (row.held ?? null) as HeldRow | null,
    /** The newest version of the study's code, counted from 1. */
    codeVersion: row.code_version ?? 1,
    /** The priority among the studies of the same owner. The study with the highest one gets devices first. */
    priority: row.priority ?? 0,
    webhook: row.webhook === undefined ? null : webhookView(row.webhook),
    direction: row.direction,
    /** The range of each value (R73); empty: the study states none. null: no limit. */
    valueRange: (row.value_range ?? []).map(
      ({ low, high }) => ({ low: low ?? null, high: high ?? null }) as const,
    ),
    /** The number of trials: those that exist, or those that the owner plans if these are more. */
    total: Math.max(row.total, row.wanted ?? 0),
    complete: row.complete,
    pruned: row.pruned,
    failed: row.failed,
    running: row.running,
    attempts: row.attempts,
    cursor: row.cursor,
    estimate: row.estimate === undefined ? null : estimateView(row.estimate),
    entry: row.entry,
    seed: row.seed,
    /** The time of creation in Unix milliseconds. */
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? null,
    /** The names of the space's dimensions, in order. */
    names: row.space.map((dimension) => dimension.name),
    chainer: row.runtime.chainer,
    /** The back end that the trials ask for; null if they ask for no device. */
    backend: row.runtime.backend ?? null,
    /** Whether the study has requirements that devices must meet in addition to the back end. */
    hasRequirements: row.requires !== undefined,
    /** The direction of each objective. */
    directions: (row.directions ?? [row.direction]) as readonly wire.StudyRow["direction"][],
    /** If the study has several directions: the trials on its Pareto front, or the first ones if they are many. */
    bestTrials: row.best_trials ?? [],
    best: row.best === undefined ? null : { ...row.best, params: paramsOf(row.best.params) },
  } as const;
}

function trialView(row: wire.TrialRow) {
  const attached = attachedOf(row.attrs);
  return {
    trial: row.trial,
    state: row.state,
    params: paramsOf(row.params),
    /** The distributions of the parameters of an ask-and-tell study's trial; else empty. */
    distributions: distributionsOf(row.suggested),
    seed: row.seed,
    values: row.values as readonly number[],
    /** The values as the objective returned them: one may be infinite, for which a message has the largest double. */
    exactValues: (attached.infinite.size === 0
      ? row.values
      : row.values.map((value, i) => attached.infinite.get(i) ?? value)) as readonly number[],
    /** Whether a complete trial violates its constraints, so that it is never the best. */
    isInfeasible: row.infeasible === true,
    attempts: row.attempts,
    device: row.device === undefined ? null : deviceView(row.device),
    startedAt: row.started_at,
    /** The time of the trial's end; 0 if it has not finished. */
    finishedAt: row.finished_at,
    runMs: row.run_ms,
    loadMs: row.load_ms,
    seq: row.seq,
    /** The version of the study's code that computed the trial. */
    codeVersion: row.code_version ?? 1,
    error: (row.error ?? null) as FailureRow | null,
    /** The newest value of each series and the numbers that were returned with the value, by name. */
    summary: summaryOf(row, attached),
    /** The attributes that the objective attached. */
    attributes: attached.user,
  } as const;
}

function summaryOf(
  row: wire.TrialRow,
  attached: Attached,
): readonly (readonly [name: string, value: number])[] {
  const last = (row.last ?? []).flatMap(([name, value]) =>
    value === null ? [] : [[name, Number(value)] as const],
  );
  return [...new Map([...last, ...attached.summary])];
}

function attemptView(row: wire.AttemptRow) {
  return {
    attempt: row.attempt,
    kind: row.kind,
    state: row.state,
    /** The version of the study's code that the attempt runs. */
    codeVersion: row.code_version ?? 1,
    device: deviceView(row.device),
    values: row.values as readonly number[],
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    runMs: row.run_ms,
    loadMs: row.load_ms,
    error: (row.error ?? null) as FailureRow | null,
    /** Who rejected the attempt, when and why; null: nobody. */
    rejected: (row.rejected ?? null) as RejectionRow | null,
  } as const;
}

function workerView(row: wire.WorkerRow) {
  const { device, class: kind, engine, trial = null, study = null } = row;
  return { device, class: kind, engine, trial, study } as const;
}

export const studyOf = (value: unknown) => studyView(readRow(wire.studyRow, value));

/** Reads the distributions of a study's space from its row. */
export const spaceOfStudy = (value: unknown): Distributions =>
  spaceOf(readRow(wire.studyRow, value).space);

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
    /** Whether the trial has logged series. */
    hasSeries: row.last !== undefined,
    attemptsList: row.attempts_list.map(attemptView) as readonly AttemptRow[],
  } as const;
}

export function artifactsOf(value: unknown): readonly ArtifactRow[] {
  return readRow(wire.artifactsPage, value).artifacts;
}

export interface StudiesPage {
  readonly studies: readonly StudyRow[];
  /** Whether there are older studies. */
  readonly more: boolean;
}

export function studiesOf(value: unknown): StudiesPage {
  const { studies, more } = readRow(wire.studiesPage, value);
  return { studies: studies.map(studyView), more };
}

export function trialsOf(value: unknown): { trials: readonly TrialRow[]; cursor: number } {
  const { trials, cursor } = readRow(wire.trialsPage, value);
  return { trials: trials.map(trialView), cursor };
}

export function workersOf(value: unknown): readonly WorkerRow[] {
  return readRow(wire.workersPage, value).workers.map(workerView);
}

export const placementOf = (value: unknown): PlacementRow => readRow(wire.placement, value);

function personView(row: wire.PersonRow) {
  return { ...row, reason: row.reason ?? "" } as const;
}

/** Returns people, the number of bytes that the server may still store, and whether more people follow. */
export function peopleOf(value: unknown) {
  const { researchers, room, more } = readRow(wire.peoplePage, value);
  return { people: researchers.map(personView), room, more } as const;
}

function projectView({ id, project, researchers, frozen }: wire.ProjectRow) {
  return {
    id,
    name: project,
    /** The researchers who may use the project, at most 100. */
    researchers: researchers as readonly string[],
    isFrozen: frozen !== undefined,
    reason: frozen?.reason ?? "",
  } as const;
}

export function projectsOf(value: unknown): readonly ProjectRow[] {
  return readRow(wire.projectsPage, value).projects.map(projectView);
}

export function barredOf(value: unknown): readonly BarredRow[] {
  return readRow(wire.barredPage, value).barred;
}

export function ceilingsOf(value: unknown): readonly CeilingRow[] {
  return readRow(wire.ceilingsPage, value).ceilings.map((row) => ({
    scope: row.scope,
    ...(row.name === undefined ? {} : { name: row.name }),
    timeLimitMs: row.time_limit_ms ?? null,
    devices: row.devices ?? null,
    dataBytes: row.data_bytes ?? null,
    approval: row.approval ?? null,
  }));
}

/** Reads the codes of troubles with which the server still takes work. */
export function warningsOf(value: unknown): readonly string[] {
  const { warnings = [] } = value as { readonly warnings?: unknown };
  if (!Array.isArray(warnings) || warnings.some((code) => typeof code !== "string")) {
    throw new RowError("warnings");
  }
  return warnings as readonly string[];
}

export function sharesOf(value: unknown): readonly ShareRow[] {
  return readRow(wire.sharesPage, value).shares.map((row) => ({
    scope: row.scope === "project" ? "project" : "researcher",
    name: row.name,
    weight: row.weight ?? null,
    guaranteed: row.guaranteed,
    lends: row.lends ?? [],
  }));
}

export const meOf = (value: unknown): Me => readRow(wire.me, value);

export const joinUrlOf = (value: unknown): string => readRow(wire.enrolment, value).join_url;

export function seriesNamesOf(value: unknown): readonly SeriesName[] {
  return readRow(wire.seriesPage, value).series.map(({ series, name }) => ({ id: series, name }));
}

function linesOf(series: readonly wire.NamedSeries[]): readonly NamedLine[] {
  return series.map(([name, steps, values]) => ({
    name,
    points: steps.map((step, i) => [step, Number(values[i] ?? "NaN")] as const),
  }));
}

export function trialSeriesOf(value: unknown): TrialSeries {
  const { trial, series } = readRow(wire.seriesOfTrial, value);
  return { trial, series: linesOf(series) };
}

/** Reads series of many trials. Unfinished trials have no cursor. */
export function seriesOf(value: unknown): {
  readonly trials: readonly TrialSeries[];
  readonly cursor: number;
} {
  const withCursor = typeof value === "object" && value !== null ? { cursor: 0, ...value } : value;
  const { trials, cursor } = readRow(wire.seriesOfTrials, withCursor);
  return {
    trials: trials.map(({ trial, series }) => ({ trial, series: linesOf(series) })),
    cursor,
  };
}

/**
 * Reads the reported values of many trials. The rows of an answer have values until there is no more room in it; the cursor
 * is that of the last row that has.
 */
export function curvesOf(value: unknown): {
  readonly trials: readonly TrialSeries[];
  readonly cursor: number;
} {
  const { trials, cursor } = readRow(wire.trialsPage, value);
  const first = trials.findIndex(({ points }) => points === undefined);
  const whole = first < 0 ? trials : trials.slice(0, first);
  return {
    trials: whole.map(({ trial, points = [] }) => ({ trial, series: [{ name: "", points }] })),
    cursor: first < 0 ? cursor : (whole.at(-1)?.seq ?? 0),
  };
}
