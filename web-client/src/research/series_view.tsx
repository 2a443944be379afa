// Charts of logged series: one series of all trials of a study, or all series of one trial. A chart loads its values when it
// comes into view. Page thread.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Chart } from "../ui/chart_view.tsx";
import type { Point } from "../ui/curve.ts";
import { linesOf } from "../ui/lines.ts";
import type { NamedLine, SeriesName, StudyRow } from "./model/rows.ts";
import { visibleText } from "./model/visible_text.ts";
import { PlotFrame } from "./plots/frame/plot_frame.tsx";
import type { PlotTable } from "./plots/frame/plot_table.ts";
import type { ResearchStore } from "./research_store.ts";

/** The number of charts that are shown before the reader asks for all. */
const FIRST_CHARTS = 24;

function SeriesChart({
  series,
  study,
  store,
}: {
  readonly series: SeriesName;
  readonly study: StudyRow;
  readonly store: ResearchStore;
}) {
  const words = store.words.value.study;
  const format = store.format.value;
  const box = useRef<HTMLElement>(null);
  const { id } = series;
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
  const lines = store.series.lines.value.get(id);
  const best = study.best?.trial ?? -1;
  const chart = useMemo(() => {
    if (lines === undefined) {
      return null;
    }
    const all = [...lines.finished, ...lines.running];
    const marked = all.findIndex(([trial]) => trial === best);
    return linesOf(
      all.map(([, line]) => line),
      marked,
    );
  }, [lines, best]);
  const name = visibleText(series.name);
  return (
    <section class="series" ref={box} data-series={series.name} data-drawn={chart?.count}>
      {chart === null ? (
        <>
          <h3 class="label">{name}</h3>
          <p class="quiet series-room">
            {lines === undefined ? store.words.value.loading : words.seriesEmpty}
          </p>
        </>
      ) : (
        <PlotFrame
          store={store}
          id={`series-${name}`}
          title={name}
          table={() =>
            seriesTable([...(lines?.finished ?? []), ...(lines?.running ?? [])], name, store)
          }
        >
          <Chart
            chart={chart}
            kind="many"
            title={name}
            summary={words.seriesSummary(
              name,
              format.integer((lines?.finished.size ?? 0) + (lines?.running.size ?? 0)),
              format.value(chart.minValue),
              format.value(chart.maxValue),
            )}
            xLabel={store.words.value.trial.stepAxis}
            value={(value) => format.metric(value)}
            step={(value) => format.integer(value)}
          />
        </PlotFrame>
      )}
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

/** Shows a chart for each series of a study, with a line for each trial. */
export function StudySeries({
  study,
  store,
}: {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}) {
  const words = store.words.value.study;
  const showsAll = useSignal(false);
  const names = store.series.names.value;
  if (names.length === 0) {
    return null;
  }
  const shown = showsAll.value ? names : names.slice(0, FIRST_CHARTS);
  return (
    <section class="card stack" data-part="series">
      <h2>{words.series}</h2>
      <p class="quiet">{words.seriesNote}</p>
      <div class="series-grid">
        {shown.map((series) => (
          <SeriesChart key={series.id} series={series} study={study} store={store} />
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
          {words.seriesAll(store.format.value.integer(names.length))}
        </button>
      ) : null}
    </section>
  );
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
