// A console without a server. It answers with the rows of a story, which pass the same checks as the real console's.
// Page thread; stories and tests only.

import { type Api, ConsoleError, PAGE_ROWS } from "../research/api.ts";
import {
  artifactsOf,
  barredOf,
  type CeilingRow,
  ceilingsOf,
  curvesOf,
  detailOf,
  type Me,
  type PersonChange,
  peopleOf,
  placementOf,
  projectsOf,
  type Selection,
  type ShareRow,
  seriesNamesOf,
  seriesOf,
  sharesOf,
  spaceOfStudy,
  studyOf,
  trialOf,
  trialSeriesOf,
  workersOf,
} from "../research/model/rows.ts";

export interface ConsoleRows {
  /**
   * The rows of studies, in the form of server/docs/rest.md. A request for a study gets the row with the study's id.
   */
  readonly studies: readonly Readonly<Record<string, unknown>>[];
  readonly trials: readonly Readonly<Record<string, unknown>>[];
  readonly workers: readonly Readonly<Record<string, unknown>>[];
  readonly artifacts?: readonly Readonly<Record<string, unknown>>[];
  readonly placement?: Readonly<Record<string, unknown>>;
  /** The caller's role; a researcher if it is left out. */
  readonly role?: Me["role"];
  readonly people?: readonly Readonly<Record<string, unknown>>[];
  /** How many bytes the server may still store; 50 GB if it is left out. */
  readonly room?: number;
  /** The codes of what is wrong with the server. */
  readonly warnings?: readonly string[];
  readonly projects?: readonly Readonly<Record<string, unknown>>[];
  readonly barred?: readonly Readonly<Record<string, unknown>>[];
  readonly shares?: readonly Readonly<Record<string, unknown>>[];
  readonly ceilings?: readonly Readonly<Record<string, unknown>>[];
  /** The error code with which a method fails, by the method's name. With `never`, the method does not answer. */
  readonly faults: Readonly<Partial<Record<keyof Api, string>>>;
}

export class FakeConsole implements Api {
  readonly calls: string[] = [];
  rows: ConsoleRows;

  constructor(rows: ConsoleRows) {
    this.rows = rows;
  }

  async me(): Promise<Me> {
    await this.#call("me");
    const { role = "researcher" } = this.rows;
    return { name: role === "admin" ? "root" : "Aoki Lab", role, server: "0.1.0" };
  }

  async studies(count: number) {
    await this.#call("studies");
    const { studies } = this.rows;
    return { studies: studies.slice(0, count).map(studyOf), more: studies.length > count };
  }

  async study(study: number) {
    await this.#call("study", study);
    const row = this.rows.studies.find((one) => one.study === study);
    if (row === undefined) {
      throw new ConsoleError("unknown_study", "There is no such study.");
    }
    return studyOf(row);
  }

  async space(study: number) {
    await this.#call("space", study);
    return spaceOfStudy(this.rows.studies.find((one) => one.study === study));
  }

  async trials(study: number, after: number) {
    await this.#call("trials", study, after);
    const trials = this.rows.trials
      .filter((row) => row.study === study && Number(row.seq) > after)
      .sort((a, b) => Number(a.seq) - Number(b.seq))
      .slice(0, PAGE_ROWS)
      .map(trialOf);
    return { trials, cursor: trials.at(-1)?.seq ?? after };
  }

  async trial(study: number, trial: number) {
    await this.#call("trial", study, trial);
    const row = this.rows.trials.find((one) => one.study === study && one.trial === trial);
    if (row === undefined) {
      throw new ConsoleError("not_found", "There is no such trial.");
    }
    return detailOf({ points: [], attempts_list: [], ...row });
  }

  async seriesNames(study: number) {
    await this.#call("seriesNames", study);
    return seriesNamesOf({ series: this.#names(study), cursor: 0 });
  }

  async series(study: number, series: number, points: number, after: number) {
    await this.#call("series", study, series, points, after);
    const trials = this.rows.trials
      .filter((row) => row.study === study && Number(row.seq) > after)
      .sort((a, b) => Number(a.seq) - Number(b.seq))
      .slice(0, PAGE_ROWS);
    const cursor = Number(trials.at(-1)?.seq ?? after);
    return seriesOf({ trials: trials.map((row) => this.#seriesOf(row, series)), cursor });
  }

  async unfinishedSeries(study: number, series: number, points: number) {
    await this.#call("unfinishedSeries", study, series, points);
    const trials = this.rows.trials.filter((row) => row.study === study && Number(row.seq) === 0);
    return seriesOf({ trials: trials.map((row) => this.#seriesOf(row, series)) }).trials;
  }

  async curves(study: number, after: number, limit: number) {
    await this.#call("curves", study, after, limit);
    const trials = this.rows.trials
      .filter((row) => row.study === study && Number(row.seq) > after)
      .sort((a, b) => Number(a.seq) - Number(b.seq))
      .slice(0, limit);
    const cursor = Number(trials.at(-1)?.seq ?? after);
    return curvesOf({ trials: trials.map((row) => ({ points: [], ...row })), cursor });
  }

  async unfinishedCurves(study: number) {
    await this.#call("unfinishedCurves", study);
    const trials = this.rows.trials
      .filter((row) => row.study === study && Number(row.seq) === 0)
      .map((row) => ({ points: [], ...row }));
    return curvesOf({ trials, cursor: 0 }).trials;
  }

  async trialSeries(study: number, trial: number, points: number) {
    await this.#call("trialSeries", study, trial, points);
    const row = this.rows.trials.find((one) => one.study === study && one.trial === trial);
    return trialSeriesOf(this.#seriesOf(row ?? {}, null)).series;
  }

  /** Returns a trial's series. Its row in a story may contain `series`: [name, steps, values]. */
  #seriesOf(row: Readonly<Record<string, unknown>>, series: number | null) {
    const all = (row.series ?? []) as readonly (readonly [string, ...unknown[]])[];
    const name = this.#names(Number(row.study)).find((one) => one.series === series)?.name;
    return {
      trial: row.trial,
      seq: row.seq,
      series: series === null ? all : all.filter(([own]) => own === name),
    };
  }

  #names(study: number): { series: number; name: string }[] {
    const all = this.rows.trials
      .filter((row) => row.study === study)
      .flatMap((row) =>
        ((row.series ?? []) as readonly (readonly [string])[]).map(([name]) => name),
      );
    return [...new Set(all)].map((name, i) => ({ series: i + 1, name }));
  }

  async artifacts(_study: number, trial: number) {
    await this.#call("artifacts", trial);
    const found = this.rows.artifacts ?? [];
    return artifactsOf({ artifacts: found.filter((row) => row.trial === trial), cursor: 0 });
  }

  async artifact(_study: number, _trial: number, id: string) {
    await this.#call("artifact");
    return new Blob([id]);
  }

  async workers() {
    await this.#call("workers");
    return workersOf({ workers: this.rows.workers, cursor: 0, more: false });
  }

  async placement(study: number) {
    await this.#call("placement", study);
    return placementOf(this.rows.placement ?? { devices: 0, matching: 0, reasons: [] });
  }

  async cancel(study: number) {
    await this.#call("cancel", study);
    return this.#change(study, { state: "cancelled" });
  }

  async pause(study: number) {
    await this.#call("pause", study);
    return this.#change(study, { paused: true });
  }

  async resume(study: number) {
    await this.#call("resume", study);
    return this.#change(study, { paused: undefined });
  }

  async prioritize(study: number, priority: number) {
    await this.#call("prioritize", study, priority);
    return this.#change(study, { priority });
  }

  async replay(study: number) {
    await this.#call("replay", study);
    return this.#change(study, { state: "running", failed: 0, finished_at: undefined });
  }

  async reject(study: number, which: Selection, reason: string) {
    await this.#call("reject", study, JSON.stringify({ ...which, reason }));
  }

  async banDevice(device: string, reason: string) {
    await this.#call("banDevice", device, reason);
  }

  async remove(study: number) {
    await this.#call("remove", study);
    const studies = this.rows.studies.filter((row) => row.study !== study);
    this.rows = { ...this.rows, studies };
  }

  async joinLink() {
    await this.#call("joinLink");
    return "https://flock.example/join#hfe_Zm9yLXN0b3JpZXMtb25seQ";
  }

  async warnings() {
    await this.#call("warnings");
    return this.rows.warnings ?? [];
  }

  async awaiting() {
    await this.#call("awaiting");
    const held = this.rows.studies.map(studyOf);
    return held.filter((row) => row.held?.code === "approval_pending");
  }

  async people(count: number) {
    await this.#call("people", count);
    const { people = [], room = 50_000_000_000 } = this.rows;
    return peopleOf({ researchers: people.slice(0, count), room, more: people.length > count });
  }

  async changePerson(person: number, change: PersonChange) {
    await this.#call("changePerson", person, JSON.stringify(change));
    const people = this.rows.people?.map((row) => {
      if (row.researcher !== person) return row;
      const state =
        change.state === undefined ? {} : { state: change.state, reason: change.reason };
      const quota = { ...(row.quota as object), ...change.quota };
      return JSON.parse(JSON.stringify({ ...row, ...state, quota }));
    });
    this.rows = { ...this.rows, ...(people === undefined ? {} : { people }) };
  }

  async projects() {
    await this.#call("projects");
    return projectsOf({ projects: this.rows.projects ?? [] });
  }

  async barred() {
    await this.#call("barred");
    return barredOf({ barred: this.rows.barred ?? [] });
  }

  async ceilings() {
    await this.#call("ceilings");
    return ceilingsOf({ ceilings: this.rows.ceilings ?? [] });
  }

  async shares() {
    await this.#call("shares");
    return sharesOf({ shares: this.rows.shares ?? [] });
  }

  async approve(study: number) {
    await this.#call("approve", study);
    await this.#change(study, { held: undefined });
  }

  async refuse(study: number, reason: string) {
    await this.#call("refuse", study, reason);
    await this.#change(study, { state: "cancelled", held: { code: "approval_refused", reason } });
  }

  async freeze(project: number, reason: string) {
    await this.#call("freeze", project, reason);
    this.#setFrozen(project, { at: 1, reason });
  }

  async unfreeze(project: number) {
    await this.#call("unfreeze", project);
    this.#setFrozen(project);
  }

  #setFrozen(project: number, frozen?: object) {
    const projects = this.rows.projects?.map((row) =>
      row.id === project ? JSON.parse(JSON.stringify({ ...row, frozen })) : row,
    );
    this.rows = { ...this.rows, ...(projects === undefined ? {} : { projects }) };
  }

  async bar(sha256: string, reason: string) {
    await this.#call("bar", sha256, reason);
    const row = { sha256, reason, barred_by: "root", barred_at: 1 };
    this.rows = { ...this.rows, barred: [...(this.rows.barred ?? []), row] };
  }

  async lift(sha256: string) {
    await this.#call("lift", sha256);
    const barred = (this.rows.barred ?? []).filter((row) => row.sha256 !== sha256);
    this.rows = { ...this.rows, barred };
  }

  async setShare(share: ShareRow) {
    await this.#call("setShare", JSON.stringify(share));
  }

  async setCeiling(ceiling: CeilingRow) {
    await this.#call("setCeiling", JSON.stringify(ceiling));
  }

  async #change(study: number, change: Readonly<Record<string, unknown>>) {
    // Removes undefined values, which JSON does not have.
    const changed = (row: object) => JSON.parse(JSON.stringify({ ...row, ...change }));
    const studies = this.rows.studies.map((row) => (row.study === study ? changed(row) : row));
    this.rows = { ...this.rows, studies };
    const row = studies.find((one) => one.study === study);
    return studyOf(row);
  }

  async #call(name: keyof Api, ...details: readonly (number | string)[]): Promise<void> {
    this.calls.push([name, ...details].join(" "));
    const fault = this.rows.faults[name];
    if (fault === "never") {
      await new Promise<never>(() => {});
    }
    if (fault !== undefined) {
      throw new ConsoleError(fault, "The server’s own sentence about it.");
    }
  }
}
