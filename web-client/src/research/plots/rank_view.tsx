// The ranks of the complete trials over two parameters. Page thread.

import { useMemo } from "preact/hooks";
import type { TrialRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { shortNumber } from "../trials/columns.ts";
import { quantiles, rankShares } from "./analysis/rank.ts";
import { PlotFrame } from "./frame/plot_frame.tsx";
import { nearText, openTrial } from "./near_trial.ts";
import { type Pair, PairView } from "./pair_view.tsx";
import { type Mark, rankMarks } from "./scatter.ts";
import { Key, ScatterPlot } from "./scatter_view.tsx";

const PARTS = ["least", "quarter", "middle", "most", "last"] as const;
const all = (rows: readonly TrialRow[]) => rows;

function RankPlot({ pair, store }: { readonly pair: Pair; readonly store: ResearchStore }) {
  const { study, rows, x, y, name } = pair;
  const words = store.words.value.plots;
  const format = store.format.value;
  const objective = pair.objective.value;
  const values = useMemo(
    () => rows.map((row) => row.exactValues[objective] ?? Number.NaN),
    [rows, objective],
  );
  const shares = useMemo(() => rankShares(values), [values]);
  const markOf = useMemo(
    () =>
      (at: number): Mark =>
        rows[at]?.isInfeasible
          ? "infeasible"
          : (rankMarks[Math.min(8, Math.floor((shares[at] ?? 0) * 9))] ?? "rank0"),
    [rows, shares],
  );
  const quarter = quantiles(values, [0, 0.25, 0.5, 0.75, 1]);
  const title = words.rank.title(x.axis.name, y.axis.name);
  return (
    <PlotFrame
      store={store}
      id="rank"
      title={title}
      table={() => ({
        columns: [
          ...[store.words.value.table.columns.trial, x.axis.name, y.axis.name, name],
          ...[words.rank.rank, words.frame.feasible],
        ],
        rows: rows.flatMap((row, i) => {
          const [across, up] = [x.values.values[i], y.values.values[i]];
          const rank = (shares[i] ?? 0) * Math.max(1, rows.length - 1) + 1;
          return across === undefined || up === undefined
            ? []
            : [[row.trial, across, up, values[i], rank, String(!row.isInfeasible)]];
        }),
      })}
    >
      <ScatterPlot
        x={x.axis}
        y={y.axis}
        markOf={markOf}
        title={title}
        summary={(dots) => words.rank.summary(format.integer(dots), x.axis.name, y.axis.name)}
        describe={(at) => nearText(rows[at], store)}
        onPick={(at) => openTrial(study, rows[at], store)}
      />
      <ul class="plot-keys">
        {PARTS.map((part, i) => (
          <Key key={part} mark={rankMarks[2 * i] ?? "rank0"}>
            {words.rank.part(words.rank.parts[part], shortNumber(quarter[i] ?? Number.NaN))}
          </Key>
        ))}
        {rows.some((row) => row.isInfeasible) ? (
          <Key mark="infeasible">{store.words.value.front.marks.infeasible}</Key>
        ) : null}
      </ul>
    </PlotFrame>
  );
}

export function RankView({ store }: { readonly store: ResearchStore }) {
  return (
    <PairView
      store={store}
      part="rank"
      note={store.words.value.plots.rank.note}
      only={all}
      draw={(pair) => <RankPlot pair={pair} store={store} />}
    />
  );
}
