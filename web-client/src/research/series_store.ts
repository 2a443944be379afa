// The series that a study's trials logged, as the page shows them: their names, and the lines of those whose charts are in
// view. The server is asked once for finished trials, and at each refresh for running ones. Page thread.

import { type Signal, signal } from "@preact/signals";
import type { Point } from "../ui/curve.ts";
import type { Api } from "./api.ts";
import type { SeriesName, StudyRow, TrialSeries } from "./model/rows.ts";
import { shortened } from "./series/smooth.ts";
import { doneOf } from "./view_model.ts";

/** The most points of all lines of one chart together. A chart is too narrow to show more. */
const CHART_POINTS = 32_000;
const MOST_POINTS = 400;
const FEWEST_POINTS = 8;
/** The most lines of one chart. */
export const MAX_LINES = 4_000;

/** The lines of one series: its points for each trial. */
export interface SeriesLines {
  readonly finished: ReadonlyMap<number, readonly Point[]>;
  readonly running: ReadonlyMap<number, readonly Point[]>;
  readonly cursor: number;
}

/** The number of the reported values among the series, whose own numbers begin at 1. */
export const REPORTED = 0;
/** The trials whose values are asked for to see whether the study's trials report any. */
const FIRST_CURVES = 20;
/** The trials whose reported values are asked for at once. */
const CURVES_AT_ONCE = 200;

const NO_LINES: SeriesLines = { finished: new Map(), running: new Map(), cursor: 0 };

/** Returns the number of points of each trial's line: fewer if there are many trials, so that charts draw quickly. */
export function pointsOf(trials: number): number {
  const share = Math.floor(CHART_POINTS / Math.max(1, trials));
  return Math.min(MOST_POINTS, Math.max(FEWEST_POINTS, share));
}

function linesOf(trials: readonly TrialSeries[]): [number, readonly Point[]][] {
  return trials.flatMap(({ trial, series }) => {
    const points = series[0]?.points;
    return points === undefined || points.length === 0 ? [] : [[trial, points]];
  });
}

export class SeriesStore {
  readonly names: Signal<readonly SeriesName[]> = signal([]);
  readonly lines: Signal<ReadonlyMap<number, SeriesLines>> = signal(new Map());
  /** Whether the study's trials report values; null if that is not known yet. */
  readonly hasReports: Signal<boolean | null> = signal(null);
  /** The series whose charts are in view. */
  readonly #shown = new Set<number>();
  readonly #loading = new Set<number>();
  #era = 0;
  #source: { readonly api: Api; readonly study: StudyRow } | null = null;

  /** Forgets everything, because another study is shown, or none. */
  clear(): void {
    this.#era += 1;
    this.#source = null;
    this.#shown.clear();
    this.#loading.clear();
    this.names.value = [];
    this.hasReports.value = null;
    this.lines.value = new Map();
  }

  /** Notes that a series's chart is in view, and loads its lines. After a failure the next refresh tries again. */
  show(series: number): void {
    if (!this.#shown.has(series)) {
      this.#shown.add(series);
      void this.#load(series).catch(() => {});
    }
  }

  /** Asks for new names, and for new lines of the charts in view. */
  async refresh(api: Api, study: StudyRow): Promise<void> {
    const era = this.#era;
    this.#source = { api, study };
    const names = await api.seriesNames(study.study);
    if (era !== this.#era) {
      return;
    }
    if (names.length !== this.names.value.length) {
      this.names.value = names;
    }
    await this.#lookForReports(api, study, () => era === this.#era);
    await Promise.all([...this.#shown].map((series) => this.#load(series)));
  }

  async #lookForReports(api: Api, study: StudyRow, isCurrent: () => boolean): Promise<void> {
    if (this.hasReports.value !== null || study.cursor === 0) {
      return;
    }
    const { trials } = await api.curves(study.study, 0, FIRST_CURVES);
    const found = trials.some(({ series }) => (series[0]?.points.length ?? 0) > 0);
    // So many trials without a value are enough to know that the objective reports none.
    if (isCurrent() && (found || trials.length >= FIRST_CURVES || study.state !== "running")) {
      this.hasReports.value = found;
    }
  }

  async #load(series: number): Promise<void> {
    const source = this.#source;
    if (source === null || this.#loading.has(series)) {
      return;
    }
    const era = this.#era;
    this.#loading.add(series);
    try {
      await this.#follow(source.api, source.study, series, () => era === this.#era);
    } finally {
      this.#loading.delete(series);
    }
  }

  async #follow(api: Api, study: StudyRow, series: number, isCurrent: () => boolean) {
    const points = pointsOf(doneOf(study) + study.running);
    const known = this.lines.value.get(series) ?? NO_LINES;
    const finished = new Map(known.finished);
    let cursor = known.cursor;
    while (cursor < study.cursor && finished.size < MAX_LINES) {
      const page =
        series === REPORTED
          ? await api.curves(study.study, cursor, CURVES_AT_ONCE)
          : await api.series(study.study, series, points, cursor);
      if (!isCurrent() || page.trials.length === 0) {
        break;
      }
      for (const [trial, line] of linesOf(page.trials)) {
        finished.set(trial, shortened(line, points));
      }
      cursor = page.cursor;
    }
    const open =
      study.state !== "running"
        ? []
        : series === REPORTED
          ? await api.unfinishedCurves(study.study)
          : await api.unfinishedSeries(study.study, series, points);
    if (isCurrent()) {
      const running = new Map(linesOf(open).filter(([trial]) => !finished.has(trial)));
      this.lines.value = new Map(this.lines.value).set(series, { finished, running, cursor });
    }
  }
}
