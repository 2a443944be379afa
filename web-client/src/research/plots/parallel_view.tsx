// Parallel coordinates: a line for each complete trial across its values and parameters. A brush on an axis chooses a range,
// which also narrows the table of trials and the slice plots; fields below do the same by keyboard. Page thread.
//
// biome-ignore-all lint/a11y/noNoninteractiveTabindex: a region that scrolls must take focus.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { TrialRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { headingOf } from "../trials/cells.ts";
import { ColumnChoice } from "../trials/column_choice.tsx";
import { type Column, cellReader } from "../trials/columns.ts";
import { sampleOf } from "../trials/grid_window.ts";
import { RangeFields, Ranges } from "../trials/ranges_view.tsx";
import { PlotFrame } from "./frame/plot_frame.tsx";
import { type PlotTable, plotCell } from "./frame/plot_table.ts";
import {
  AXIS_BOTTOM,
  AXIS_HEIGHT,
  AXIS_TOP,
  bandsOf,
  dividedRows,
  LEAST_BRUSH,
  layoutOf,
  MOST_FAINT,
  MOST_LINES,
  pathOf,
  placeOfY,
  yOf,
} from "./parallel.ts";
import { type ColumnAxis, useAxes, useMarks } from "./plot_rows.ts";

/** The most axes that are drawn. */
const MOST_AXES = 12;
/** The longest name of an axis, in characters; the whole name is its title. */
const NAME_CHARS = 14;
/** Half of the width of the strip in which a brush begins, in CSS pixels. */
const GRIP = 22;
/** More lines than this are drawn weaker, so that they can be told apart. */
const STRONG_LINES = 120;
const FIRST_WIDTH = 900;
const HEIGHT = AXIS_TOP + AXIS_HEIGHT + AXIS_BOTTOM;

function AxisView({
  column,
  x,
  isLast,
  store,
}: {
  readonly column: ColumnAxis;
  readonly x: number;
  /** Whether there is no axis and little room to the right of this one. */
  readonly isLast: boolean;
  readonly store: ResearchStore;
}) {
  const { key, axis } = column;
  const begun = useRef<number | null>(null);
  const range = store.trials.choice.value.ranges.get(key);
  const span = range === undefined ? null : axis.spanOf(range);
  const placeOf = (event: PointerEvent & { readonly currentTarget: SVGRectElement }) => {
    const top = event.currentTarget.ownerSVGElement?.getBoundingClientRect().top ?? 0;
    return placeOfY(event.clientY - top);
  };
  const brush = (event: PointerEvent & { readonly currentTarget: SVGRectElement }) => {
    if (begun.current === null) {
      return;
    }
    const [from, to] = [begun.current, placeOf(event)].sort((a, b) => a - b) as [number, number];
    store.trials.chooseRange(key, to - from < LEAST_BRUSH ? null : axis.rangeOf(from, to));
  };
  const name = axis.name.length > NAME_CHARS ? `${axis.name.slice(0, NAME_CHARS - 1)}…` : axis.name;
  return (
    <g>
      <text class="axis-name" x={x} y={14} text-anchor="middle">
        <title>{axis.name}</title>
        {name}
      </text>
      <path class="axis-line" d={`M${x} ${yOf(1)}V${yOf(0)}`} />
      {axis.ticks.map((tick) => (
        <g key={`${tick.at} ${tick.text}`}>
          <path class="axis-line" d={`M${x - 3} ${yOf(tick.at)}h6`} />
          <text
            class="axis-tick"
            x={isLast ? x - 6 : x + 6}
            y={yOf(tick.at) + 4}
            text-anchor={isLast ? "end" : "start"}
          >
            {tick.text.length > NAME_CHARS ? `${tick.text.slice(0, NAME_CHARS - 1)}…` : tick.text}
          </text>
        </g>
      ))}
      {span === null ? null : (
        <rect
          class="axis-brush"
          data-brush={key}
          x={x - 8}
          width={16}
          y={yOf(span[1]) - 3}
          height={yOf(span[0]) - yOf(span[1]) + 6}
        />
      )}
      <rect
        class="axis-grip"
        data-grip={key}
        x={x - GRIP}
        width={2 * GRIP}
        y={AXIS_TOP - 8}
        height={AXIS_HEIGHT + 16}
        onPointerDown={(event) => {
          begun.current = placeOf(event);
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={brush}
        onPointerUp={(event) => {
          brush(event);
          begun.current = null;
        }}
        onPointerCancel={() => {
          begun.current = null;
        }}
      />
    </g>
  );
}

function parallelTable(
  rows: readonly TrialRow[],
  matching: readonly number[],
  columns: readonly Column[],
  store: ResearchStore,
): PlotTable {
  const readers = columns.map(cellReader);
  const shown = matching.flatMap((at) => rows[at] ?? []);
  return {
    columns: [
      store.words.value.table.columns.trial,
      ...columns.map((column) => headingOf(column, store)),
    ],
    rows: shown.map((row) => [row.trial, ...readers.map((read) => plotCell(read(row)))]),
  };
}

export function ParallelView({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value;
  const format = store.format.value;
  const study = store.study.value;
  const frame = useRef<HTMLElement>(null);
  const width = useSignal(FIRST_WIDTH);
  const rows = store.data.value.trials;
  const matches = store.trials.matches.value;
  const wanted = store.trials.shown.value.filter(
    ({ kind }) => kind === "value" || kind === "param",
  );
  const axes = useAxes(wanted.slice(0, MOST_AXES), rows, "auto", store);
  const [goal] = useAxes([{ kind: "value", index: 0 }], rows, "linear", store);
  const direction = study?.directions[0] ?? "minimize";
  const isEmpty = study === null || !rows.some(({ state }) => state === "complete");
  useEffect(() => {
    const element = frame.current;
    if (element === null) {
      return;
    }
    const observer = new ResizeObserver(() => {
      width.value = element.clientWidth;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [width, isEmpty]);
  const { matching, others } = useMemo(
    () => dividedRows((row) => rows[row]?.state === "complete", matches),
    [rows, matches],
  );
  const layout = layoutOf(axes.length, width.value);
  const xs = layout.xs.join();
  const lines = useMemo(() => {
    const along = xs.split(",").map(Number);
    const all = axes.map(({ axis }) => axis);
    const shown = sampleOf(matching, MOST_LINES);
    const bands = goal === undefined ? [shown] : bandsOf(shown, goal.axis, direction);
    return {
      count: shown.length,
      faint: pathOf(all, along, sampleOf(others, MOST_FAINT)),
      bands: bands.map((band) => pathOf(all, along, band)),
    };
  }, [axes, goal, matching, others, xs, direction]);
  const markOf = useMarks(study ?? { best: null, bestTrials: [] }, rows);
  const best = useMemo(
    () =>
      pathOf(
        axes.map(({ axis }) => axis),
        xs.split(",").map(Number),
        matching.filter((row) => markOf(row) === "best").slice(0, MOST_FAINT),
      ),
    [axes, xs, matching, markOf],
  );
  return (
    <section class="card stack" data-part="parallel">
      <h2>{words.parts.names.parallel}</h2>
      <p class="quiet">{words.parallel.note}</p>
      {isEmpty ? (
        <p class="quiet">{words.study.chartEmpty}</p>
      ) : (
        <>
          {/* A wide drawing scrolls in its own frame, which the keyboard can reach. */}
          <PlotFrame
            store={store}
            id="parallel"
            title={words.parts.names.parallel}
            table={() => parallelTable(rows, matching, wanted, store)}
          >
            <section
              class="parallel"
              ref={frame}
              tabIndex={0}
              aria-label={words.parts.names.parallel}
            >
              <svg
                width={layout.width}
                height={HEIGHT}
                viewBox={`0 0 ${layout.width} ${HEIGHT}`}
                role="img"
                data-lines={lines.count}
                style={{
                  "--strength": Math.sqrt(Math.min(1, STRONG_LINES / Math.max(1, lines.count))),
                }}
                aria-label={words.parallel.summary(
                  format.integer(lines.count),
                  format.integer(axes.length),
                )}
              >
                <path class="line-faint" d={lines.faint} />
                {lines.bands.map((band, i) => (
                  <path class="line-band" data-band={i} key={`band ${i}`} d={band} />
                ))}
                <path class="line-best" d={best} />
                {axes.map((column, i) => (
                  <AxisView
                    key={column.key}
                    column={column}
                    x={layout.xs[i] ?? 0}
                    isLast={i > 0 && i === axes.length - 1}
                    store={store}
                  />
                ))}
              </svg>
            </section>
          </PlotFrame>
          <p role="status" data-matching={matching.length}>
            {words.parallel.matching(
              format.integer(matching.length),
              format.integer(matching.length + others.length),
            )}
          </p>
          {lines.count < matching.length ? (
            <p class="quiet">{words.parallel.sampled(format.integer(lines.count))}</p>
          ) : null}
          {axes.length < wanted.length ? (
            <p class="quiet">{words.parallel.moreAxes(format.integer(axes.length))}</p>
          ) : null}
          <Ranges store={store} />
          <RangeFields axes={axes} store={store} />
          <ColumnChoice store={store} />
        </>
      )}
    </section>
  );
}
