// Charts of logged series: one series of all trials of a study, or all series of one trial. A chart loads its values when it
// comes into view. Page thread.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Chart } from "../ui/chart_view.tsx";
import type { Point } from "../ui/curve.ts";
import { frameOf, linesOf } from "../ui/lines.ts";
import type { NamedLine, SeriesName, StudyRow } from "./model/rows.ts";
import { visibleText } from "./model/visible_text.ts";
import { Switch } from "./plots/choices.tsx";
import { PlotFrame } from "./plots/frame/plot_frame.tsx";
import type { PlotTable } from "./plots/frame/plot_table.ts";
import type { ResearchStore } from "./research_store.ts";
import { nearestLine, smoothed } from "./series/smooth.ts";
import { REPORTED, type SeriesLines } from "./series_store.ts";
import { Ranges } from "./trials/ranges_view.tsx";

/** The number of charts that are shown before the reader asks for all. */
const FIRST_CHARTS = 24;
/** The weights of the smoothing that the reader can choose, in percent. */
const MOST_SMOOTHING = 99;

/** How the reader wants all charts to be drawn. */
interface Drawing {
  readonly isLog: boolean;
  /** From 0, which leaves lines as they are, to below 1. */
  readonly smoothing: number;
}

type Line = readonly [trial: number, points: readonly Point[]];

/** Returns the lines of the trials that match the filter and the ranges. Unfinished trials match if nothing is chosen. */
function useMatching(lines: SeriesLines | undefined, store: ResearchStore): readonly Line[] | null {
  const rows = store.data.value.trials;
  const matches = store.trials.matches.value;
  return useMemo(() => {
    if (lines === undefined) {
      return null;
    }
    if (matches.every((isMatch) => isMatch === 1)) {
      return [...lines.finished, ...lines.running];
    }
    const found = new Set(rows.filter((_, i) => matches[i] === 1).map(({ trial }) => trial));
    return [...lines.finished].filter(([trial]) => found.has(trial));
  }, [lines, rows, matches]);
}

function SeriesChart({
  series,
  study,
  drawing,
  store,
}: {
  readonly series: SeriesName;
  readonly study: StudyRow;
  readonly drawing: Drawing;
  readonly store: ResearchStore;
}) {
  const words = store.words.value.study;
  const format = store.format.value;
  const box = useRef<HTMLElement>(null);
  const near = useSignal<{ readonly trial: number; readonly point: Point } | null>(null);
  const { id } = series;
  const { isLog, smoothing } = drawing;
  useEffect(() => {
    const element = box.current;
    if (element === null) {
      return;
    }
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) {
        observer.disconnect();
        store.series.show(id);
      }
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [store, id]);
  const all = useMatching(store.series.lines.value.get(id), store);
  const best = study.best?.trial ?? -1;
  const drawn = useMemo(() => {
    if (all === null) {
      return null;
    }
    const scale = isLog ? "log" : "linear";
    const lines = all.map(([, line]) => smoothed(line, smoothing));
    return {
      lines,
      frame: frameOf(lines, { scale }),
      chart: linesOf(lines, {
        ...{ scale, marked: all.findIndex(([trial]) => trial === best) },
        faint: smoothing > 0 ? all.map(([, line]) => line) : [],
      }),
    };
  }, [all, best, isLog, smoothing]);
  const chart = drawn?.chart ?? null;
  const name = visibleText(series.name);
  const find = (x: number, y: number) => {
    const found =
      drawn === null || drawn.frame === null ? null : nearestLine(drawn.lines, drawn.frame, x, y);
    const trial = found === null ? undefined : all?.[found.line]?.[0];
    return found === null || trial === undefined ? null : { trial, point: found.point };
  };
  return (
    <section
      class="series"
      ref={box}
      data-series={series.name}
      data-drawn={chart?.count}
      data-lines={all?.length}
    >
      {chart === null ? (
        <>
          <h3 class="label">{name}</h3>
          <p class="quiet series-room">
            {all === null ? store.words.value.loading : words.seriesEmpty}
          </p>
        </>
      ) : (
        <PlotFrame
          store={store}
          id={`series-${name}`}
          title={name}
          table={() => seriesTable(all ?? [], name, store)}
        >
          <Chart
            chart={chart}
            kind="many"
            title={name}
            summary={words.seriesSummary(
              name,
              format.integer(all?.length ?? 0),
              format.value(chart.minValue),
              format.value(chart.maxValue),
            )}
            xLabel={store.words.value.trial.stepAxis}
            value={(value) => format.metric(value)}
            step={(value) => format.integer(value)}
            pointer={{
              at: (x, y) => {
                near.value = find(x, y);
              },
              leave: () => {
                near.value = null;
              },
              press: (x, y) => {
                const found = find(x, y);
                if (found !== null) {
                  store.goTo({ page: "trial", study: study.study, trial: found.trial });
                }
              },
            }}
          />
          <p class="plot-near" aria-hidden="true">
            {near.value === null
              ? "\u00a0"
              : store.words.value.plots.curves.near(
                  store.words.value.trial.heading(format.integer(near.value.trial)),
                  format.integer(near.value.point[0]),
                  format.value(near.value.point[1]),
                )}
          </p>
        </PlotFrame>
      )}
    </section>
  );
}

/** Shows a chart for each series of a study and for the reported values, with a line for each trial. */
export function StudySeries({
  study,
  store,
}: {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}) {
  const words = store.words.value;
  const format = store.format.value;
  const showsAll = useSignal(false);
  const isLog = useSignal(false);
  const percent = useSignal(0);
  const reported: readonly SeriesName[] = store.series.hasReports.value
    ? [{ id: REPORTED, name: words.trial.curve }]
    : [];
  const names = [...reported, ...store.series.names.value];
  if (names.length === 0) {
    return (
      <section class="card stack" data-part="series">
        <h2>{words.parts.names.series}</h2>
        <p class="quiet">{words.plots.curves.nothing}</p>
      </section>
    );
  }
  const shown = showsAll.value ? names : names.slice(0, FIRST_CHARTS);
  return (
    <section class="card stack" data-part="series">
      <h2>{words.parts.names.series}</h2>
      <p class="quiet">{words.study.seriesNote}</p>
      <Ranges store={store} />
      <div class="table-tools">
        <Switch
          label={words.study.logScale}
          action="log"
          isOn={isLog.value}
          onChange={(isOn) => {
            isLog.value = isOn;
          }}
        />
        <label class="choose">
          <span>{words.plots.curves.smoothing(format.percent(percent.value / 100))}</span>
          <input
            type="range"
            class="smoothing"
            data-action="smoothing"
            min={0}
            max={MOST_SMOOTHING}
            value={percent.value}
            onInput={(event) => {
              percent.value = Number(event.currentTarget.value);
            }}
          />
        </label>
      </div>
      <div class="series-grid">
        {shown.map((series) => (
          <SeriesChart
            key={series.id}
            series={series}
            study={study}
            drawing={{ isLog: isLog.value, smoothing: percent.value / 100 }}
            store={store}
          />
        ))}
      </div>
      {shown.length < names.length ? (
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="all_series"
          onClick={() => {
            showsAll.value = true;
          }}
        >
          {words.study.seriesAll(format.integer(names.length))}
        </button>
      ) : null}
    </section>
  );
}

function seriesTable(
  lines: readonly (readonly [trial: number, points: readonly Point[]])[],
  name: string,
  store: ResearchStore,
): PlotTable {
  const words = store.words.value;
  return {
    columns: [words.table.columns.trial, words.trial.stepAxis, name],
    rows: lines.flatMap(([trial, points]) =>
      points.map(([step, value]) => [trial, step, value] as const),
    ),
  };
}

function LineChart({ line, store }: { readonly line: NamedLine; readonly store: ResearchStore }) {
  const words = store.words.value.trial;
  const format = store.format.value;
  const chart = useMemo(() => linesOf([line.points]), [line]);
  const name = visibleText(line.name);
  const last = line.points.at(-1)?.[1] ?? Number.NaN;
  return (
    <section class="series" data-series={line.name} data-drawn={chart?.count ?? 0}>
      {chart === null ? (
        <>
          <h3 class="label">{name}</h3>
          <p class="quiet series-room">{words.seriesNotFinite}</p>
        </>
      ) : (
        <Chart
          chart={chart}
          kind="many"
          title={name}
          summary={words.seriesSummary(
            name,
            format.value(chart.minValue),
            format.value(chart.maxValue),
            Number.isFinite(last) ? format.value(last) : String(last),
          )}
          xLabel={words.stepAxis}
          value={(value) => format.metric(value)}
          step={(value) => format.integer(value)}
        />
      )}
    </section>
  );
}

/** Shows a chart for each series of one trial. */
export function TrialSeriesCharts({ store }: { readonly store: ResearchStore }) {
  const lines = store.trialSeries.value;
  return lines.length === 0 ? null : (
    <section class="card stack" data-part="series">
      <h2>{store.words.value.trial.series}</h2>
      <div class="series-grid">
        {lines.map((line) => (
          <LineChart key={line.name} line={line} store={store} />
        ))}
      </div>
    </section>
  );
}
