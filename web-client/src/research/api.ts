// The console's REST interface (server/docs/rest.md). The researcher's token is sent only in a header. Page thread.

import type { Distributions } from "./model/distribution.ts";
import {
  type ArtifactRow,
  artifactsOf,
  type BarredRow,
  barredOf,
  type CeilingRow,
  ceilingsOf,
  curvesOf,
  detailOf,
  joinUrlOf,
  type Me,
  meOf,
  type NamedLine,
  type PersonChange,
  type PlacementRow,
  type ProjectRow,
  peopleOf,
  placementOf,
  projectsOf,
  RowError,
  type Selection,
  type SeriesName,
  type ShareRow,
  type StudiesPage,
  type StudyRow,
  seriesNamesOf,
  seriesOf,
  sharesOf,
  spaceOfStudy,
  studiesOf,
  studyOf,
  type TrialDetail,
  type TrialRow,
  type TrialSeries,
  trialSeriesOf,
  trialsOf,
  type WorkerRow,
  warningsOf,
  workersOf,
} from "./model/rows.ts";

const TIMEOUT_MS = 15_000;
/** The time limit of a download: enough for a file of 64 MiB over a slow line. */
const DOWNLOAD_MS = 600_000;
/** The most trials that the first request for a study returns, so that its page is soon there, and later requests. */
export const PAGE_ROWS = 500;
const MORE_ROWS = 2_000;

/** The most series of a study that the page offers. */
const MOST_SERIES = 1_000;
const MOST_WORKERS = 5_000;

/** The codes with which a server says that it takes no work. */
const NOT_READY: ReadonlySet<string> = new Set([
  "draining",
  "writer_hangs",
  "disk_full",
  "read_only",
  "no_room",
]);

type Method = "GET" | "POST" | "DELETE";

export type FetchLike = (path: string, init: RequestInit) => Promise<Response>;

/** Thrown if a request to the console fails. `code` is the server's code, `unreachable` or `bad_answer`. */
export class ConsoleError extends Error {
  readonly code: string;
  /** The id under which the server's operator finds the request in the log; empty if there is none. */
  readonly requestId: string;

  constructor(code: string, message: string, requestId = "") {
    super(message);
    this.code = code;
    this.requestId = requestId;
  }
}

export interface Api {
  me(): Promise<Me>;
  /** Returns the newest studies, at most `count`, and whether there are older ones. */
  studies(count: number): Promise<StudiesPage>;
  study(study: number): Promise<StudyRow>;
  /** Returns the distributions of the space from which the server makes a study's trials. */
  space(study: number): Promise<Distributions>;
  /** Returns some of the trials that finished after the cursor `after`, and the next cursor; none if there is none. */
  trials(
    study: number,
    after: number,
  ): Promise<{ readonly trials: readonly TrialRow[]; readonly cursor: number }>;
  trial(study: number, trial: number): Promise<TrialDetail>;
  /** Returns the names of the series that the study's trials have, at most MOST_SERIES. */
  seriesNames(study: number): Promise<readonly SeriesName[]>;
  /** Returns one series of trials that finished after the cursor `after`: at most `points` values for each. */
  series(
    study: number,
    series: number,
    points: number,
    after: number,
  ): Promise<{ readonly trials: readonly TrialSeries[]; readonly cursor: number }>;
  /** Returns one series of the unfinished trials, with at most `points` values for each trial. */
  unfinishedSeries(study: number, series: number, points: number): Promise<readonly TrialSeries[]>;
  /** Returns the reported values of at most `limit` trials that finished after the cursor `after`. */
  curves(
    study: number,
    after: number,
    limit: number,
  ): Promise<{ readonly trials: readonly TrialSeries[]; readonly cursor: number }>;
  /** Returns the reported values of the unfinished trials. */
  unfinishedCurves(study: number): Promise<readonly TrialSeries[]>;
  /** Returns all series of a trial, with at most `points` values for each. */
  trialSeries(study: number, trial: number, points: number): Promise<readonly NamedLine[]>;
  /** Returns the files that a trial uploaded, at most 500. */
  artifacts(study: number, trial: number): Promise<readonly ArtifactRow[]>;
  artifact(study: number, trial: number, id: string): Promise<Blob>;
  workers(): Promise<readonly WorkerRow[]>;
  placement(study: number): Promise<PlacementRow>;
  cancel(study: number): Promise<StudyRow>;
  pause(study: number): Promise<StudyRow>;
  resume(study: number): Promise<StudyRow>;
  /** Gives the study another priority among those of its owner. */
  prioritize(study: number, priority: number): Promise<StudyRow>;
  replay(study: number): Promise<StudyRow>;
  /** Rejects attempts, so that their trials run again on other devices. */
  reject(study: number, which: Selection, reason: string): Promise<void>;
  /** Bans a device, and rejects what it has sent in all studies of the caller. */
  banDevice(device: string, reason: string): Promise<void>;
  /** Deletes a study that has ended. */
  remove(study: number): Promise<void>;
  /** Makes a new join link for the first project. */
  joinLink(): Promise<string>;
  // ---- requests that only administrators may make
  /** Returns the codes of what is wrong with the server, such as `backup_failed` or `disk_full`. */
  warnings(): Promise<readonly string[]>;
  /** Returns the studies that wait for approval, at most 50. */
  awaiting(): Promise<readonly StudyRow[]>;
  /** Returns the first people, at most `count`, and how many bytes the server may still store. */
  people(count: number): Promise<ReturnType<typeof peopleOf>>;
  /** Changes somebody's state or quota. */
  changePerson(person: number, change: PersonChange): Promise<void>;
  projects(): Promise<readonly ProjectRow[]>;
  barred(): Promise<readonly BarredRow[]>;
  ceilings(): Promise<readonly CeilingRow[]>;
  shares(): Promise<readonly ShareRow[]>;
  approve(study: number): Promise<void>;
  refuse(study: number, reason: string): Promise<void>;
  freeze(project: number, reason: string): Promise<void>;
  unfreeze(project: number): Promise<void>;
  bar(sha256: string, reason: string): Promise<void>;
  lift(sha256: string): Promise<void>;
  setCeiling(ceiling: CeilingRow): Promise<void>;
  setShare(share: ShareRow): Promise<void>;
}

function errorOf(body: unknown, status: number): ConsoleError {
  const error = (
    body as { error?: { code?: unknown; message?: unknown; request_id?: unknown } } | null
  )?.error;
  const id = typeof error?.request_id === "string" ? error.request_id : "";
  return typeof error?.code === "string" && typeof error.message === "string"
    ? new ConsoleError(error.code, error.message, /^[0-9a-f]{32}$/.test(id) ? id : "")
    : new ConsoleError("bad_answer", `The server answered with status ${status}.`);
}

function unreachable(): ConsoleError {
  return new ConsoleError("unreachable", "The server cannot be reached.");
}

export class ConsoleApi implements Api {
  readonly #token: string;
  readonly #fetch: FetchLike;

  constructor(token: string, fetchLike: FetchLike) {
    this.#token = token;
    this.#fetch = fetchLike;
  }

  me(): Promise<Me> {
    return this.#ask("GET", "/api/me", meOf);
  }

  studies(count: number): Promise<StudiesPage> {
    return this.#ask("GET", `/api/studies?limit=${count}&space=names`, studiesOf);
  }

  study(study: number): Promise<StudyRow> {
    return this.#ask("GET", `/api/studies/${study}?space=names`, studyOf);
  }

  space(study: number): Promise<Distributions> {
    return this.#ask("GET", `/api/studies/${study}`, spaceOfStudy);
  }

  trials(study: number, after: number) {
    const query = `after=${after}&limit=${after === 0 ? PAGE_ROWS : MORE_ROWS}`;
    return this.#ask("GET", `/api/studies/${study}/trials?${query}`, trialsOf);
  }

  trial(study: number, trial: number): Promise<TrialDetail> {
    return this.#ask("GET", `/api/studies/${study}/trials/${trial}`, detailOf);
  }

  seriesNames(study: number): Promise<readonly SeriesName[]> {
    return this.#ask("GET", `/api/studies/${study}/series?limit=${MOST_SERIES}`, seriesNamesOf);
  }

  series(study: number, series: number, points: number, after: number) {
    const query = `series=${series}&points=${points}&after=${after}&limit=${PAGE_ROWS}`;
    return this.#ask("GET", `/api/studies/${study}/series/trials?${query}`, seriesOf);
  }

  async unfinishedSeries(study: number, series: number, points: number) {
    const query = `series=${series}&points=${points}`;
    const path = `/api/studies/${study}/series/unfinished?${query}`;
    return (await this.#ask("GET", path, seriesOf)).trials;
  }

  curves(study: number, after: number, limit: number) {
    const path = `/api/studies/${study}/trials?after=${after}&limit=${limit}&points=1`;
    return this.#ask("GET", path, curvesOf);
  }

  async unfinishedCurves(study: number) {
    const path = `/api/studies/${study}/unfinished?limit=${PAGE_ROWS}&points=1`;
    return (await this.#ask("GET", path, curvesOf)).trials;
  }

  async trialSeries(study: number, trial: number, points: number) {
    const path = `/api/studies/${study}/trials/${trial}/series?points=${points}`;
    return (await this.#ask("GET", path, trialSeriesOf)).series;
  }

  artifacts(study: number, trial: number): Promise<readonly ArtifactRow[]> {
    return this.#ask("GET", `/api/studies/${study}/artifacts?trial=${trial}`, artifactsOf);
  }

  async artifact(study: number, trial: number, id: string): Promise<Blob> {
    const path = `/api/studies/${study}/artifacts/${encodeURIComponent(id)}?trial=${trial}`;
    const response = await this.#send("GET", path, DOWNLOAD_MS);
    if (!response.ok) {
      throw errorOf(await response.json().catch(() => null), response.status);
    }
    return response.blob().catch(() => {
      throw unreachable();
    });
  }

  workers(): Promise<readonly WorkerRow[]> {
    return this.#ask("GET", `/api/workers?limit=${MOST_WORKERS}`, workersOf);
  }

  placement(study: number): Promise<PlacementRow> {
    return this.#ask("GET", `/api/studies/${study}/placement`, placementOf);
  }

  cancel(study: number): Promise<StudyRow> {
    return this.#ask("POST", `/api/studies/${study}/cancel`, studyOf);
  }

  pause(study: number): Promise<StudyRow> {
    return this.#ask("POST", `/api/studies/${study}/pause`, studyOf);
  }

  resume(study: number): Promise<StudyRow> {
    return this.#ask("POST", `/api/studies/${study}/resume`, studyOf);
  }

  prioritize(study: number, priority: number): Promise<StudyRow> {
    return this.#ask("POST", `/api/studies/${study}/priority`, studyOf, { priority });
  }

  replay(study: number): Promise<StudyRow> {
    return this.#ask("POST", `/api/studies/${study}/replay`, studyOf);
  }

  reject(study: number, which: Selection, reason: string): Promise<void> {
    const body = reason === "" ? which : { ...which, reason };
    return this.#ask("POST", `/api/studies/${study}/reject`, () => undefined, body);
  }

  banDevice(device: string, reason: string): Promise<void> {
    const body = reason === "" ? { reject: true } : { reject: true, reason };
    const path = `/api/devices/${encodeURIComponent(device)}/revoke`;
    return this.#ask("POST", path, () => undefined, body);
  }

  remove(study: number): Promise<void> {
    return this.#ask("DELETE", `/api/studies/${study}`, () => undefined);
  }

  joinLink(): Promise<string> {
    return this.#ask("POST", "/api/enrolment", joinUrlOf);
  }

  async warnings(): Promise<readonly string[]> {
    try {
      return await this.#ask("GET", "/readyz", warningsOf);
    } catch (error) {
      // A server that takes no work says why.
      if (error instanceof ConsoleError && NOT_READY.has(error.code)) {
        return [error.code];
      }
      throw error;
    }
  }

  async awaiting(): Promise<readonly StudyRow[]> {
    return (await this.#ask("GET", "/api/approvals?space=names", studiesOf)).studies;
  }

  people(count: number) {
    return this.#ask("GET", `/api/researchers?limit=${count}`, peopleOf);
  }

  changePerson(person: number, change: PersonChange): Promise<void> {
    return this.#change(`/api/researchers/${person}`, change);
  }

  projects(): Promise<readonly ProjectRow[]> {
    return this.#ask("GET", "/api/projects", projectsOf);
  }

  barred(): Promise<readonly BarredRow[]> {
    return this.#ask("GET", "/api/barred", barredOf);
  }

  ceilings(): Promise<readonly CeilingRow[]> {
    return this.#ask("GET", "/api/ceilings", ceilingsOf);
  }

  shares(): Promise<readonly ShareRow[]> {
    return this.#ask("GET", "/api/shares", sharesOf);
  }

  approve(study: number): Promise<void> {
    return this.#change(`/api/studies/${study}/approve`);
  }

  refuse(study: number, reason: string): Promise<void> {
    return this.#change(`/api/studies/${study}/refuse`, { reason });
  }

  freeze(project: number, reason: string): Promise<void> {
    return this.#change(`/api/projects/${project}/freeze`, { reason });
  }

  unfreeze(project: number): Promise<void> {
    return this.#change(`/api/projects/${project}/unfreeze`);
  }

  bar(sha256: string, reason: string): Promise<void> {
    return this.#change(`/api/barred/${encodeURIComponent(sha256)}`, { reason });
  }

  lift(sha256: string): Promise<void> {
    return this.#change(`/api/barred/${sha256}/lift`);
  }

  setCeiling({
    scope,
    name,
    timeLimitMs,
    devices,
    dataBytes,
    approval,
  }: CeilingRow): Promise<void> {
    const limits = { time_limit_ms: timeLimitMs, devices, data_bytes: dataBytes, approval };
    return this.#change("/api/ceilings", { scope, name, ...limits });
  }

  setShare({ scope, name, weight, guaranteed, lends }: ShareRow): Promise<void> {
    const lent = scope === "project" ? { lends } : {};
    return this.#change("/api/shares", { scope, name, weight, guaranteed, ...lent });
  }

  #change(path: string, sent = {}): Promise<void> {
    return this.#ask("POST", path, () => undefined, sent);
  }

  async #send(method: Method, path: string, timeoutMs: number, sent = {}): Promise<Response> {
    try {
      return await this.#fetch(path, {
        method,
        headers: { Authorization: `Bearer ${this.#token}` },
        ...(method === "POST" ? { body: JSON.stringify(sent) } : {}),
        cache: "no-store",
        credentials: "omit",
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch {
      throw unreachable();
    }
  }

  async #ask<Answer>(
    method: Method,
    path: string,
    read: (body: unknown) => Answer,
    sent = {},
  ): Promise<Answer> {
    const response = await this.#send(method, path, TIMEOUT_MS, sent);
    let body: unknown;
    try {
      body = await response.json();
    } catch {
      body = null;
    }
    if (!response.ok) {
      throw errorOf(body, response.status);
    }
    try {
      return read(body);
    } catch (error) {
      if (error instanceof RowError) {
        throw new ConsoleError(error.code, error.message);
      }
      throw error;
    }
  }
}
