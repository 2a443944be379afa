// The Pareto front of a study with several objectives: a plot of each pair of objectives, and the best trials by name. The
// server says which trials no other one beats, as it does to the package. Page thread.

import { useSignal } from "@preact/signals";
import { useCallback, useMemo } from "preact/hooks";
import { hashOf } from "../model/route.ts";
import type { StudyRow, TrialRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { cellText, headingOf } from "../trials/cells.ts";
import { columnKey } from "../trials/columns.ts";
import { noBestOf } from "../view_model.ts";
import { axisOf } from "./axis.ts";
import { PlotFrame } from "./frame/plot_frame.tsx";
import type { PlotTable } from "./frame/plot_table.ts";
import { Hypervolume } from "./hypervolume_view.tsx";
import { nearText, openTrial } from "./near_trial.ts";
import type { Mark } from "./scatter.ts";
import { ScatterPlot } from "./scatter_view.tsx";

/** The number of pairs that are shown before the reader asks for all. */
const FIRST_PAIRS = 6;
/** The most best trials that the page lists. The table of trials has all of them. */
const MOST_LISTED = 50;

interface Props {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}

/** Returns all pairs of different objectives. */
export function pairsOf(objectives: number): readonly (readonly [x: number, y: number])[] {
  return Array.from({ length: objectives }, (_, x) =>
    Array.from({ length: objectives - x - 1 }, (_, i) => [x, x + 1 + i] as const),
  ).flat();
}

function frontTable(
  rows: readonly TrialRow[],
  marks: readonly Mark[],
  objectives: readonly [number, number],
  store: ResearchStore,
): PlotTable {
  const words = store.words.value;
  const { columns } = words.table;
  return {
    columns: [
      columns.trial,
      ...objectives.map((index) => columns.valueNumbered(String(index + 1))),
      words.front.heading,
      words.plots.frame.feasible,
    ],
    rows: rows.map((row, i) => [
      row.trial,
      ...objectives.map((index) => row.values[index]),
      String(marks[i] === "best"),
      String(!row.isInfeasible),
    ]),
  };
}

function Plots({ study, store }: Props) {
  const words = store.words.value;
  const format = store.format.value;
  const showsAll = useSignal(false);
  const rows = store.data.value.trials;
  const { language } = store;
  const tag = language.value;
  const bestList = study.bestTrials.join();
  const complete = useMemo(() => rows.filter(({ state }) => state === "complete"), [rows]);
  const goals = study.directions.join();
  const axes = useMemo(() => {
    const { columns } = store.words.value.table;
    return goals.split(",").map((goal, i) => {
      const name = columns.valueNumbered(String(i + 1));
      const better =
        store.words.value.study.direction[goal === "maximize" ? "maximize" : "minimize"];
      const cells = complete.map(({ values }) => values[i]);
      return axisOf(`${name} (${better})`, cells, "linear");
    });
  }, [complete, goals, tag, store]);
  const marks = useMemo(() => {
    const best = new Set(bestList.split(",").map(Number));
    return complete.map(
      (row): Mark => (best.has(row.trial) ? "best" : row.isInfeasible ? "infeasible" : "other"),
    );
  }, [complete, bestList]);
  const markOf = useCallback((row: number) => marks[row] ?? "other", [marks]);
  const numbered = (index: number) => words.table.columns.valueNumbered(format.integer(index + 1));
  const pairs = pairsOf(study.directions.length);
  const shown = showsAll.value ? pairs : pairs.slice(0, FIRST_PAIRS);
  return (
    <section class="card stack" data-part="front">
      <h2>{words.front.heading}</h2>
      <p class="quiet">{words.front.note}</p>
      <ul class="legend">
        {(["best", "other", "infeasible"] as const)
          .filter((mark) => marks.includes(mark))
          .map((mark) => (
            <li key={mark} data-mark={mark}>
              {words.front.marks[mark]}
            </li>
          ))}
      </ul>
      {complete.length === 0 ? (
        <p class="quiet">{words.study.chartEmpty}</p>
      ) : (
        <div class="plot-grid" data-pairs={pairs.length}>
          {shown.map(([across, up]) => {
            const [x, y] = [axes[across], axes[up]];
            return x === undefined || y === undefined ? null : (
              <PlotFrame
                key={`${across} ${up}`}
                store={store}
                id={`front-${across + 1}-${up + 1}`}
                title={words.front.pair(numbered(across), numbered(up))}
                table={() => frontTable(complete, marks, [across, up], store)}
              >
                <ScatterPlot
                  x={x}
                  y={y}
                  markOf={markOf}
                  title={words.front.pair(numbered(across), numbered(up))}
                  summary={(dots) =>
                    words.front.summary(
                      format.integer(dots),
                      format.integer(study.bestTrials.length),
                      numbered(across),
                      numbered(up),
                    )
                  }
                  describe={(at) => nearText(complete[at], store)}
                  onPick={(at) => openTrial(study, complete[at], store)}
                />
              </PlotFrame>
            );
          })}
        </div>
      )}
      {shown.length < pairs.length ? (
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="all_pairs"
          onClick={() => {
            showsAll.value = true;
          }}
        >
          {words.front.allPairs(format.integer(pairs.length))}
        </button>
      ) : null}
    </section>
  );
}

function BestTrials({ study, store }: Props) {
  const words = store.words.value;
  const format = store.format.value;
  const why = noBestOf(study);
  const known = useMemo(
    () => new Map(store.data.value.trials.map((trial) => [trial.trial, trial])),
    [store.data.value.trials],
  );
  const columns = store.trials.columns.value.filter(
    ({ kind }) => kind === "value" || kind === "param",
  );
  const best = study.bestTrials.slice(0, MOST_LISTED).flatMap((trial) => known.get(trial) ?? []);
  const shown = columns.slice(0, study.directions.length + 12);
  return (
    <section class="card stack" data-part="best_trials">
      <h2>{words.study.bests}</h2>
      {why === null ? (
        <p data-best>{words.study.bestOfSeveral(format.integer(study.bestTrials.length))}</p>
      ) : (
        <p class="quiet" data-no-best={why}>
          {words.study.noBest[why]}
        </p>
      )}
      {best.length === 0 ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take focus.
        <section class="table-frame" tabIndex={0} aria-label={words.study.bests}>
          <table class="table best-table">
            <thead>
              <tr>
                <th scope="col">{words.table.columns.trial}</th>
                {shown.map((column) => (
                  <th scope="col" key={columnKey(column)}>
                    {headingOf(column, store)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {best.map((trial) => (
                <tr key={trial.trial} data-best-trial={trial.trial}>
                  <td>
                    <a
                      class="cell-link"
                      href={hashOf({ page: "trial", study: study.study, trial: trial.trial })}
                      aria-label={words.trial.heading(format.integer(trial.trial))}
                    >
                      {format.integer(trial.trial)}
                    </a>
                  </td>
                  {shown.map((column) => {
                    const { short, full } = cellText(trial, column, store);
                    return (
                      <td key={columnKey(column)} title={short === full ? undefined : full}>
                        {short}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {why === null ? (
        <div class="button-row">
          <button
            type="button"
            class="button button-quiet button-small"
            data-action="best_in_table"
            onClick={() => {
              store.trials.choose({ filter: "best", state: "all" });
              store.goTo({ page: "study", study: study.study, part: "trials" });
            }}
          >
            {words.front.inTable}
          </button>
        </div>
      ) : null}
      {study.bestTrials.length > best.length ? (
        <p class="quiet">{words.front.more(format.integer(best.length))}</p>
      ) : null}
    </section>
  );
}

export function FrontView({ store }: { readonly store: ResearchStore }) {
  const study = store.study.value;
  if (study === null) {
    return null;
  }
  if (study.directions.length === 1) {
    return (
      <section class="card stack" data-part="front">
        <h2>{store.words.value.front.heading}</h2>
        <p class="quiet">{store.words.value.front.single}</p>
      </section>
    );
  }
  return (
    <>
      <Plots study={study} store={store} />
      <BestTrials study={study} store={store} />
      <Hypervolume study={study} store={store} />
    </>
  );
}
