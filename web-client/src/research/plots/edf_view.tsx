// The empirical distribution function of an objective over the complete trials that match. Page thread.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Chart } from "../../ui/chart_view.tsx";
import type { Point } from "../../ui/curve.ts";
import { linesOf } from "../../ui/lines.ts";
import type { ResearchStore } from "../research_store.ts";
import { headingOf } from "../trials/cells.ts";
import { shortNumber } from "../trials/columns.ts";
import { finiteRows } from "./analysis/complete_rows.ts";
import { edfOf } from "./analysis/edf.ts";
import { quantiles } from "./analysis/rank.ts";
import { PlotFrame } from "./frame/plot_frame.tsx";
import { PlotHead } from "./plot_head.tsx";
import { useCompleteRows } from "./plot_rows.ts";

export function EdfView({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value.plots;
  const format = store.format.value;
  const objective = useSignal(0);
  const rows = useCompleteRows(store);
  const values = useMemo(
    () =>
      finiteRows(rows, objective.value).map((row) => row.exactValues[objective.value] as number),
    [rows, objective.value],
  );
  const edf = useMemo(() => edfOf(values), [values]);
  const chart = useMemo(() => {
    if (edf === null) {
      return null;
    }
    // The line rises from 0 where the smallest value is.
    const line = Array.from(edf.xs, (x, i): Point => [x, edf.shares[i] ?? 0]);
    return linesOf([[[edf.xs[0] ?? 0, 0], ...line]], { wholeX: false });
  }, [edf]);
  const name = headingOf({ kind: "value", index: objective.value }, store);
  const title = words.edf.title(name);
  const [low, median, high] = quantiles(values, [0, 0.5, 1]);
  return (
    <section class="card stack" data-part="edf">
      <PlotHead part="edf" note={words.edf.note} {...{ objective, store }} count={values.length} />
      {chart === null || edf === null ? (
        <p class="quiet">{words.frame.nothing}</p>
      ) : (
        <PlotFrame
          store={store}
          id="edf"
          title={title}
          table={() => ({
            columns: [name, words.edf.share],
            rows: Array.from(edf.xs, (x, i) => [x, edf.shares[i]]),
          })}
        >
          <Chart
            chart={chart}
            kind="line"
            title={title}
            summary={words.edf.summary(
              format.integer(values.length),
              format.value(low ?? 0),
              format.value(median ?? 0),
              format.value(high ?? 0),
            )}
            xLabel={name}
            value={(value) => format.percent(value)}
            step={shortNumber}
          />
        </PlotFrame>
      )}
    </section>
  );
}
