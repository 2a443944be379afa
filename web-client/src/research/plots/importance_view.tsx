// How much each parameter decides whether a trial is among the best tenth. Page thread.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { visibleText } from "../model/visible_text.ts";
import type { ResearchStore } from "../research_store.ts";
import { headingOf } from "../trials/cells.ts";
import { importancesOf } from "./analysis/importance.ts";
import { PlotFrame } from "./frame/plot_frame.tsx";
import { LaneRow } from "./lanes.tsx";
import { PlotHead } from "./plot_head.tsx";
import { useCompleteRows } from "./plot_rows.ts";

/** The number of bars that are shown before the reader asks for all. */
const FIRST_BARS = 20;
/** With fewer trials the best tenth has less than five, and the numbers say little. */
const ENOUGH_TRIALS = 50;
const NO_SPACE = new Map();

export function ImportanceView({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value.plots;
  const format = store.format.value;
  const study = store.study.value;
  const objective = useSignal(0);
  const showsAll = useSignal(false);
  useEffect(() => void store.loadSpace(), [store]);
  const rows = useCompleteRows(store);
  const direction = study?.directions[objective.value] ?? "minimize";
  const space = store.space.value ?? NO_SPACE;
  const found = useMemo(
    () => importancesOf(rows, objective.value, direction, space),
    [rows, objective.value, direction, space],
  );
  const shown = showsAll.value ? found : found.slice(0, FIRST_BARS);
  const most = found[0]?.share ?? 0;
  const title = words.importance.title(headingOf({ kind: "value", index: objective.value }, store));
  return (
    <section class="card stack" data-part="importance">
      <PlotHead
        part="importance"
        note={words.importance.note}
        {...{ objective, store }}
        count={rows.length}
      />
      {rows.length > 0 && rows.length < ENOUGH_TRIALS ? (
        <p class="quiet">{words.importance.few(format.integer(ENOUGH_TRIALS))}</p>
      ) : null}
      {found.length === 0 ? (
        <p class="quiet">{words.importance.nothing}</p>
      ) : (
        <PlotFrame
          store={store}
          id="importance"
          title={title}
          table={() => ({
            columns: [words.importance.parameter, words.importance.share, words.importance.raw],
            rows: found.map(({ name, share, raw }) => [visibleText(name), share, raw]),
          })}
        >
          <figure class="chart">
            <figcaption class="label">{title}</figcaption>
            <ul class="lanes">
              {shown.map(({ name, share }) => (
                <LaneRow key={name} name={visibleText(name)} text={format.percent(share)}>
                  <svg
                    class="chart-plot lane-plot"
                    viewBox="0 0 1000 14"
                    preserveAspectRatio="none"
                    aria-hidden="true"
                  >
                    <rect
                      class="bar"
                      data-share={share}
                      width={most === 0 ? 0 : Math.round((1_000 * share) / most)}
                      height={14}
                    />
                  </svg>
                </LaneRow>
              ))}
            </ul>
          </figure>
        </PlotFrame>
      )}
      {shown.length < found.length ? (
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="all_bars"
          onClick={() => {
            showsAll.value = true;
          }}
        >
          {store.words.value.slice.all(format.integer(found.length))}
        </button>
      ) : null}
    </section>
  );
}
