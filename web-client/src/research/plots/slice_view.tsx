// Slice plots: the value of each complete trial against each parameter. They show the trials that match the filter and the
// ranges. Page thread.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { StudyRow, TrialRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { headingOf } from "../trials/cells.ts";
import { ColumnChoice } from "../trials/column_choice.tsx";
import { type Column, cellReader, columnKey } from "../trials/columns.ts";
import { Ranges } from "../trials/ranges_view.tsx";
import { Switch } from "./choices.tsx";
import { PlotFrame } from "./frame/plot_frame.tsx";
import { type PlotTable, plotCell } from "./frame/plot_table.ts";
import { nearText, openTrial } from "./near_trial.ts";
import { PlotTools } from "./plot_head.tsx";
import { useAxes, useMarks } from "./plot_rows.ts";
import { ScatterPlot } from "./scatter_view.tsx";

/** The number of plots that are shown before the reader asks for all. */
const FIRST_PLOTS = 6;

interface Props {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}

function sliceTable(
  rows: readonly TrialRow[],
  key: string,
  objective: number,
  store: ResearchStore,
): PlotTable {
  const words = store.words.value;
  const param = store.trials.columns.value.find((column) => columnKey(column) === key);
  const value: Column = { kind: "value", index: objective };
  const read = cellReader(param ?? value);
  return {
    columns: [
      words.table.columns.trial,
      headingOf(param ?? value, store),
      headingOf(value, store),
      words.plots.frame.feasible,
    ],
    rows: rows.map((row) => [
      row.trial,
      plotCell(read(row)),
      row.values[objective],
      String(!row.isInfeasible),
    ]),
  };
}

function Plots({ study, store }: Props) {
  const words = store.words.value;
  const format = store.format.value;
  const objective = useSignal(0);
  const wantsLog = useSignal(false);
  const showsAll = useSignal(false);
  const all = store.data.value.trials;
  const matches = store.trials.matches.value;
  const rows = useMemo(
    () => all.filter((row, i) => row.state === "complete" && matches[i] === 1),
    [all, matches],
  );
  const value: Column = { kind: "value", index: objective.value };
  const [y] = useAxes([value], rows, wantsLog.value ? "log" : "linear", store);
  const params = store.trials.shown.value.filter(({ kind }) => kind === "param");
  const shown = showsAll.value ? params : params.slice(0, FIRST_PLOTS);
  const axes = useAxes(shown, rows, "auto", store);
  const markOf = useMarks(study, rows);
  const mayLog = rows.every((row) => (row.values[objective.value] ?? 1) > 0);
  if (rows.length === 0 || y === undefined) {
    return <p class="quiet">{words.slice.nothing}</p>;
  }
  return (
    <>
      <PlotTools {...{ objective, store }} count={rows.length}>
        {mayLog ? (
          <Switch
            label={words.study.logScale}
            action="log"
            isOn={wantsLog.value}
            onChange={(isOn) => {
              wantsLog.value = isOn;
            }}
          />
        ) : null}
      </PlotTools>
      <div class="plot-grid">
        {axes.map(({ key, axis }) => (
          <PlotFrame
            key={key}
            store={store}
            id={`slice-${axis.name}`}
            title={words.front.pair(axis.name, y.axis.name)}
            table={() => sliceTable(rows, key, objective.value, store)}
          >
            <ScatterPlot
              x={axis}
              y={y.axis}
              markOf={markOf}
              title={words.front.pair(axis.name, y.axis.name)}
              summary={(dots) => words.slice.summary(format.integer(dots), axis.name, y.axis.name)}
              describe={(at) => nearText(rows[at], store)}
              onPick={(at) => openTrial(study, rows[at], store)}
            />
          </PlotFrame>
        ))}
      </div>
      {shown.length < params.length ? (
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="all_slices"
          onClick={() => {
            showsAll.value = true;
          }}
        >
          {words.slice.all(format.integer(params.length))}
        </button>
      ) : null}
    </>
  );
}

export function SliceView({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value;
  const study = store.study.value;
  return study === null ? null : (
    <section class="card stack" data-part="slice">
      <h2>{words.parts.names.slice}</h2>
      <p class="quiet">{words.slice.note}</p>
      <Ranges store={store} />
      <Plots study={study} store={store} />
      <ColumnChoice store={store} />
    </section>
  );
}
