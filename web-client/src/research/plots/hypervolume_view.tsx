// The history of the hypervolume that the best trials of several objectives dominate, below a reference point that the reader
// may change. Page thread.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Chart } from "../../ui/chart_view.tsx";
import type { Point } from "../../ui/curve.ts";
import { linesOf } from "../../ui/lines.ts";
import type { StudyRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { shortNumber } from "../trials/columns.ts";
import { hypervolumeHistory, worstPoint } from "./analysis/hypervolume.ts";
import { PlotFrame } from "./frame/plot_frame.tsx";
import { useCompleteRows } from "./plot_rows.ts";

interface Props {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}

export function Hypervolume({ study, store }: Props) {
  const words = store.words.value.plots.hypervolume;
  const format = store.format.value;
  /** What the reader typed, by objective. An empty text means the worst value. */
  const typed = useSignal<readonly string[]>([]);
  const rows = useCompleteRows(store);
  const goals = study.directions.join();
  const worst = useMemo(
    () => worstPoint(rows, goals.split(",") as StudyRow["directions"]),
    [rows, goals],
  );
  const reference = worst.map((value, i) => {
    const text = typed.value[i] ?? "";
    return text === "" || !Number.isFinite(Number(text)) ? value : Number(text);
  });
  const key = reference.join();
  const history = useMemo(
    () =>
      hypervolumeHistory(
        rows,
        goals.split(",") as StudyRow["directions"],
        key.split(",").map(Number),
      ),
    [rows, goals, key],
  );
  const chart = useMemo(
    () => linesOf([history.trials.map((trial, i): Point => [trial, history.values[i] ?? 0])]),
    [history],
  );
  const last = history.values.at(-1) ?? 0;
  const numbered = (i: number) =>
    store.words.value.table.columns.valueNumbered(format.integer(i + 1));
  return (
    <section class="card stack" data-part="hypervolume">
      <h2>{words.heading}</h2>
      <p class="quiet">{words.note}</p>
      <fieldset class="range-field">
        <legend>{words.reference}</legend>
        <div class="range-fields">
          {reference.map((_, i) => (
            <label class="range-end" key={`objective ${i}`}>
              <span>{numbered(i)}</span>
              <input
                class="field"
                type="text"
                inputMode="decimal"
                data-reference={i}
                placeholder={String(worst[i])}
                value={typed.value[i] ?? ""}
                onChange={(event) => {
                  const next = reference.map((_one, at) => typed.value[at] ?? "");
                  next[i] = event.currentTarget.value.trim();
                  typed.value = next;
                }}
              />
            </label>
          ))}
        </div>
      </fieldset>
      {chart === null ? (
        <p class="quiet">{store.words.value.study.chartEmpty}</p>
      ) : (
        <PlotFrame
          store={store}
          id="hypervolume"
          title={words.heading}
          table={() => ({
            columns: [store.words.value.table.columns.trial, words.heading],
            rows: history.trials.map((trial, i) => [trial, history.values[i]]),
          })}
        >
          <Chart
            chart={chart}
            kind="line"
            title={words.title(reference.map(shortNumber).join(", "))}
            summary={words.summary(format.integer(history.trials.length), format.value(last))}
            xLabel={store.words.value.study.trialAxis}
            value={(value) => format.metric(value)}
            step={(value) => format.integer(value)}
          />
        </PlotFrame>
      )}
      {history.isCut ? (
        <p class="notice" data-cut>
          {words.cut(format.integer(history.trials.length))}
        </p>
      ) : null}
    </section>
  );
}
