// What plots of two parameters share: the choice of the parameters, the axes, and the dots of the trials. Page thread.

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { StudyRow, TrialRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { headingOf } from "../trials/cells.ts";
import type { Column } from "../trials/columns.ts";
import { type ContourAxis, contourAxis, firstDistribution } from "./analysis/contour.ts";
import { type Axis, axisOf } from "./axis.ts";
import { ColumnSelect } from "./choices.tsx";
import { PlotHead } from "./plot_head.tsx";
import { useCompleteRows } from "./plot_rows.ts";

const NO_SPACE = new Map();

export interface PairAxis {
  readonly values: ContourAxis;
  readonly axis: Axis;
}

export interface Pair {
  readonly study: StudyRow;
  readonly objective: Signal<number>;
  /** The heading of the objective. */
  readonly name: string;
  readonly rows: readonly TrialRow[];
  readonly x: PairAxis;
  readonly y: PairAxis;
}

interface Props {
  readonly store: ResearchStore;
  readonly part: "rank" | "contour";
  readonly note: string;
  /** Chooses those of the complete trials that the plot shows. */
  readonly only: (rows: readonly TrialRow[], objective: number) => readonly TrialRow[];
  /** Further controls. */
  readonly tools?: ComponentChildren;
  readonly draw: (pair: Pair) => ComponentChildren;
}

function usePairAxis(
  column: Column | undefined,
  rows: readonly TrialRow[],
  store: ResearchStore,
): PairAxis | null {
  const space = store.space.value ?? NO_SPACE;
  const name = column?.kind === "param" ? column.name : null;
  const heading = column === undefined ? "" : headingOf(column, store);
  return useMemo(() => {
    if (name === null) {
      return null;
    }
    const values = contourAxis(rows, name, space);
    const isKnown = firstDistribution(rows, name, space) !== null;
    const scale = values.isLog ? "log" : isKnown ? "linear" : "auto";
    return { values, axis: axisOf(heading, values.values, scale) };
  }, [name, heading, rows, space]);
}

export function PairView({ store, part, note, only, tools, draw }: Props) {
  const words = store.words.value;
  const study = store.study.value;
  const [objective, across, up] = [useSignal(0), useSignal(0), useSignal(1)];
  useEffect(() => void store.loadSpace(), [store]);
  const all = useCompleteRows(store);
  const rows = useMemo(() => only(all, objective.value), [only, all, objective.value]);
  const params = store.trials.columns.value.filter(({ kind }) => kind === "param");
  const x = usePairAxis(params[across.value], rows, store);
  const y = usePairAxis(params[up.value], rows, store);
  const select = (label: string, action: string, chosen: Signal<number>) => (
    <ColumnSelect
      {...{ label, action, store }}
      columns={params}
      chosen={chosen.value}
      onChoose={(index) => {
        chosen.value = index;
      }}
    />
  );
  return (
    <section class="card stack" data-part={part}>
      <PlotHead {...{ part, note, objective, store }} count={rows.length}>
        {select(words.plots.across, "across", across)}
        {select(words.plots.up, "up", up)}
        {tools}
      </PlotHead>
      {study === null || rows.length === 0 ? (
        <p class="quiet">{words.plots.frame.nothing}</p>
      ) : x === null || y === null ? (
        <p class="quiet">{words.plots.oneParameter}</p>
      ) : (
        draw({
          ...{ study, objective, rows, x, y },
          name: headingOf({ kind: "value", index: objective.value }, store),
        })
      )}
    </section>
  );
}
