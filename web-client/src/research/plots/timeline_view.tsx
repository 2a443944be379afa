// The timeline of a study: a lane for each device with a bar for each trial that it finished, and why trials failed. The
// pointer names a trial, and a press opens it; the keyboard has the table. Page thread.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { TrialRow } from "../model/rows.ts";
import { visibleText } from "../model/visible_text.ts";
import type { ResearchStore } from "../research_store.ts";
import { stateTextOf } from "../trials/cells.ts";
import { Ranges } from "../trials/ranges_view.tsx";
import { deviceText } from "../view_model.ts";
import {
  barKinds,
  kindOf,
  LANE_HEIGHT,
  LANE_WIDTH,
  type Lane,
  placeOfTime,
  type Timeline,
  timelineOf,
  timeTicks,
  trialAt,
} from "./analysis/timeline.ts";
import { PlotFrame } from "./frame/plot_frame.tsx";
import type { PlotTable } from "./frame/plot_table.ts";
import { LaneRow } from "./lanes.tsx";
import { Key } from "./scatter_view.tsx";

/** The number of lanes that are shown before the reader asks for all. */
const FIRST_LANES = 30;

function laneName(lane: Lane, store: ResearchStore): string {
  const words = store.words.value;
  const device = lane.rows[0]?.device ?? null;
  return device === null
    ? words.plots.timeline.noDevice
    : `${deviceText({ ...device, backend: "", adapter: "" }, words)} (${visibleText(device.device)})`;
}

/** Returns why the trials that did not succeed ended, each cause with its number, the most frequent first. */
function causesOf(rows: readonly TrialRow[]): readonly (readonly [cause: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const { error } of rows) {
    if (error !== null) {
      counts.set(error.code, (counts.get(error.code) ?? 0) + 1);
    }
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function timelineTable(timeline: Timeline, store: ResearchStore): PlotTable {
  const words = store.words.value;
  const { columns } = words.table;
  const time = (at: number) => new Date(at).toISOString();
  return {
    columns: [
      ...[columns.trial, columns.device, columns.state, words.trial.started, words.trial.finished],
      ...[words.plots.timeline.runMs, columns.attempts, words.trial.cause, words.trial.code],
    ],
    rows: timeline.lanes.flatMap((lane) =>
      lane.rows.map((row) => [
        ...[row.trial, visibleText(lane.device), kindOf(row)],
        ...[time(row.startedAt), time(row.finishedAt), row.runMs, row.attempts],
        ...[row.error?.cause, row.error === null ? undefined : visibleText(row.error.code)],
      ]),
    ),
  };
}

export function TimelineView({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value;
  const format = store.format.value;
  const study = store.study.value;
  const near = useSignal<TrialRow | null>(null);
  const showsAll = useSignal(false);
  const all = store.data.value.trials;
  const matches = store.trials.matches.value;
  const rows = useMemo(() => all.filter((_, i) => matches[i] === 1), [all, matches]);
  const timeline = useMemo(() => timelineOf(rows), [rows]);
  const causes = useMemo(() => causesOf(rows), [rows]);
  const again = useMemo(
    () => rows.reduce((sum, row) => sum + Math.max(0, row.attempts - 1), 0),
    [rows],
  );
  const counts = useMemo(() => {
    const found = new Map(barKinds.map((kind) => [kind, 0]));
    for (const row of timeline?.lanes.flatMap((lane) => lane.rows) ?? []) {
      found.set(kindOf(row), (found.get(kindOf(row)) ?? 0) + 1);
    }
    return found;
  }, [timeline]);
  const kindText = (kind: (typeof barKinds)[number]) =>
    kind === "infeasible" ? words.table.infeasible : words.trialStates[kind];
  const describe = (row: TrialRow) =>
    [
      `${words.trial.heading(format.integer(row.trial))}: ${stateTextOf(row, store)}`,
      format.duration(row.finishedAt - row.startedAt),
      ...(row.attempts > 1 ? [words.plots.timeline.attempts(format.integer(row.attempts))] : []),
      ...(row.error === null ? [] : [visibleText(row.error.code)]),
    ].join(", ");
  const lanes = timeline?.lanes ?? [];
  const shown = showsAll.value ? lanes : lanes.slice(0, FIRST_LANES);
  const at = (lane: Lane, event: MouseEvent & { readonly currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    return timeline === null
      ? undefined
      : trialAt(lane, timeline.from + part * (timeline.to - timeline.from));
  };
  return (
    <section class="card stack" data-part="timeline">
      <h2>{words.parts.names.timeline}</h2>
      <p class="quiet">{words.plots.timeline.note}</p>
      <Ranges store={store} />
      {timeline === null ? (
        <p class="quiet">{words.plots.timeline.nothing}</p>
      ) : (
        <PlotFrame
          store={store}
          id="timeline"
          title={words.parts.names.timeline}
          table={() => timelineTable(timeline, store)}
        >
          <figure class="chart" data-lanes={lanes.length}>
            <figcaption class="label">
              {words.plots.timeline.span(format.time(timeline.from), format.time(timeline.to))}
            </figcaption>
            <ul class="lanes">
              {shown.map((lane) => (
                <LaneRow
                  key={lane.device}
                  name={laneName(lane, store)}
                  text={words.plots.timeline.trials(format.integer(lane.rows.length))}
                >
                  <svg
                    class="chart-plot lane-plot"
                    viewBox={`0 0 ${LANE_WIDTH} ${LANE_HEIGHT}`}
                    preserveAspectRatio="none"
                    aria-hidden="true"
                    onPointerMove={(event) => {
                      near.value = at(lane, event) ?? null;
                    }}
                    onPointerLeave={() => {
                      near.value = null;
                    }}
                    onClick={(event) => {
                      const row = at(lane, event);
                      if (row !== undefined && study !== null) {
                        store.goTo({ page: "trial", study: study.study, trial: row.trial });
                      }
                    }}
                  >
                    {barKinds.map((kind) =>
                      lane.paths[kind] === "" ? null : (
                        <path class="bar" key={kind} data-kind={kind} d={lane.paths[kind]} />
                      ),
                    )}
                  </svg>
                </LaneRow>
              ))}
            </ul>
            <div class="lane lane-axis" aria-hidden="true">
              <div class="chart-x">
                {timeTicks(timeline.to - timeline.from).map((tick) => {
                  const place = `${placeOfTime(timeline, timeline.from + tick) / (LANE_WIDTH / 100)}%`;
                  return (
                    <span
                      class="chart-tick"
                      key={tick}
                      style={{ left: place, transform: `translateX(-${place})` }}
                    >
                      {tick > 0 && tick % 60_000 === 0
                        ? format.minutes(tick / 60_000)
                        : format.duration(tick)}
                    </span>
                  );
                })}
              </div>
            </div>
            <p class="plot-near" aria-hidden="true">
              {near.value === null ? "\u00a0" : describe(near.value)}
            </p>
            <ul class="plot-keys">
              {barKinds.map((kind) =>
                counts.get(kind) === 0 ? null : (
                  <Key key={kind} bar={kind}>
                    {words.plots.timeline.count(
                      kindText(kind),
                      format.integer(counts.get(kind) ?? 0),
                    )}
                  </Key>
                ),
              )}
            </ul>
          </figure>
        </PlotFrame>
      )}
      {shown.length < lanes.length ? (
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="all_lanes"
          onClick={() => {
            showsAll.value = true;
          }}
        >
          {words.plots.timeline.all(format.integer(lanes.length))}
        </button>
      ) : null}
      {again === 0 ? null : <p data-again>{words.plots.timeline.again(format.integer(again))}</p>}
      {causes.length === 0 ? null : (
        <>
          <h3>{words.plots.timeline.causes}</h3>
          <ul class="plot-keys" data-causes>
            {causes.map(([code, count]) => (
              <li key={code}>
                {words.plots.timeline.count(visibleText(code), format.integer(count))}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
