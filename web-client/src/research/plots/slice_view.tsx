// Slice plots: the value of each complete trial against each parameter. They show the trials that match the filter and the
// ranges. Page thread.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { StudyRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { headingOf } from "../trials/cells.ts";
import { ColumnChoice } from "../trials/column_choice.tsx";
import { type Column, columnKey } from "../trials/columns.ts";
import { Ranges } from "../trials/ranges_view.tsx";
import { useAxes, useMarks } from "./plot_rows.ts";
import { ScatterPlot } from "./scatter_view.tsx";

/** The number of plots that are shown before the reader asks for all. */
const FIRST_PLOTS = 6;

interface Props {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}

/** Chooses which objective the plots show, and its scale. */
function Choices({
  values,
  chosen,
  onChoose,
  store,
}: {
  readonly values: readonly Column[];
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
  readonly store: ResearchStore;
}) {
  return values.length < 2 ? null : (
    <label class="choose">
      <span>{store.words.value.slice.objective}</span>
      <select
        class="field"
        data-action="objective"
        value={String(chosen)}
        onChange={(event) => onChoose(Number(event.currentTarget.value))}
      >
        {values.map((column, i) => (
          <option key={columnKey(column)} value={String(i)}>
            {headingOf(column, store)}
          </option>
        ))}
      </select>
    </label>
  );
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
  const values = store.trials.columns.value.filter(({ kind }) => kind === "value");
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
      <div class="table-tools">
        <Choices
          values={values}
          chosen={objective.value}
          onChoose={(index) => {
            objective.value = index;
          }}
          store={store}
        />
        {mayLog ? (
          <label class="switch">
            <input
              type="checkbox"
              checked={wantsLog.value}
              onChange={(event) => {
                wantsLog.value = event.currentTarget.checked;
              }}
            />
            <span>{words.study.logScale}</span>
          </label>
        ) : null}
        <p class="quiet" role="status" data-matching={rows.length}>
          {words.slice.matching(format.integer(rows.length))}
        </p>
      </div>
      <div class="plot-grid">
        {axes.map(({ key, axis }) => (
          <ScatterPlot
            key={key}
            x={axis}
            y={y.axis}
            markOf={markOf}
            title={words.front.pair(axis.name, y.axis.name)}
            summary={(dots) => words.slice.summary(format.integer(dots), axis.name, y.axis.name)}
            describe={(at) => {
              const row = rows[at];
              return row === undefined
                ? ""
                : words.front.near(
                    words.trial.heading(format.integer(row.trial)),
                    row.values.map((one) => format.value(one)).join(", "),
                  );
            }}
            onPick={(at) => {
              const row = rows[at];
              if (row !== undefined) {
                store.goTo({ page: "trial", study: study.study, trial: row.trial });
              }
            }}
          />
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
