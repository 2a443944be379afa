// The series that a study's trials logged, as the page shows them: their names, and the lines of those whose charts are in
// view. The server is asked once for finished trials, and at each refresh for running ones. Page thread.

import { type Signal, signal } from "@preact/signals";
import type { Point } from "../ui/curve.ts";
import type { Api } from "./api.ts";
import type { SeriesName, StudyRow, TrialSeries } from "./model/rows.ts";
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
    await Promise.all([...this.#shown].map((series) => this.#load(series)));
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
      const page = await api.series(study.study, series, points, cursor);
      if (!isCurrent() || page.trials.length === 0) {
        break;
      }
      for (const [trial, line] of linesOf(page.trials)) {
        finished.set(trial, line);
      }
      cursor = page.cursor;
    }
    const open =
      study.state === "running" ? await api.unfinishedSeries(study.study, series, points) : [];
    if (isCurrent()) {
      const running = new Map(linesOf(open).filter(([trial]) => !finished.has(trial)));
      this.lines.value = new Map(this.lines.value).set(series, { finished, running, cursor });
    }
  }
}
