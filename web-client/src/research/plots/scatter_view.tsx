// A scatter plot of trials with labelled axes. The pointer names the nearest trial below the plot, and a press opens it;
// for the keyboard and for screen readers the same trials are in a table. Page thread.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { BarKind } from "./analysis/timeline.ts";
import type { Axis } from "./axis.ts";
import {
  type Mark,
  marks,
  nearest,
  PLOT_HEIGHT,
  PLOT_WIDTH,
  plotX,
  plotY,
  scatterOf,
} from "./scatter.ts";

interface Props {
  readonly x: Axis;
  readonly y: Axis;
  readonly markOf: (row: number) => Mark;
  readonly title: string;
  /** What a screen reader says about the plot, by the number of its dots. */
  readonly summary: (dots: number) => string;
  /** What is drawn below the dots, in the coordinates of `plotX` and `plotY`. */
  readonly under?: ComponentChildren;
  /** The text about a row that the pointer is near. */
  readonly describe: (row: number) => string;
  readonly onPick: (row: number) => void;
}

export function ScatterPlot({ x, y, markOf, title, summary, under, describe, onPick }: Props) {
  const near = useSignal(-1);
  const scatter = useMemo(() => scatterOf(x, y, markOf), [x, y, markOf]);
  const percent = (place: number, size: number) => `${Math.round((place / size) * 1000) / 10}%`;
  const rowAt = (event: MouseEvent & { readonly currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const across = (event.clientX - box.left) / box.width;
    return nearest(x, y, across, 1 - (event.clientY - box.top) / box.height);
  };
  const marked = near.value < 0 ? null : near.value;
  return (
    <figure class="chart plot">
      <figcaption class="label">{title}</figcaption>
      <p class="chart-axis plot-y-name" aria-hidden="true">
        {y.name}
      </p>
      <div class="chart-body">
        <div class="chart-y" aria-hidden="true">
          {y.ticks.map((tick) => (
            <span class="chart-room" key={`room ${tick.at} ${tick.text}`}>
              {tick.text}
            </span>
          ))}
          {y.ticks.map((tick) => (
            <span
              class="chart-tick"
              key={`${tick.at} ${tick.text}`}
              style={{ bottom: percent(PLOT_HEIGHT - plotY(tick.at), PLOT_HEIGHT) }}
            >
              {tick.text}
            </span>
          ))}
        </div>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard has the table. */}
        <svg
          class="chart-plot plot-area"
          viewBox={`0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summary(scatter.count)}
          data-dots={scatter.count}
          onPointerMove={(event) => {
            near.value = rowAt(event);
          }}
          onPointerLeave={() => {
            near.value = -1;
          }}
          onClick={(event) => {
            const row = rowAt(event);
            if (row >= 0) {
              onPick(row);
            }
          }}
        >
          {y.ticks.map((tick) => (
            <path
              class="chart-grid"
              key={`${tick.at} ${tick.text}`}
              d={`M0 ${plotY(tick.at)}H${PLOT_WIDTH}`}
            />
          ))}
          {under}
          {marks.map((mark) =>
            scatter.paths[mark] === "" ? null : (
              <path class="chart-dots" key={mark} data-mark={mark} d={scatter.paths[mark]} />
            ),
          )}
          {marked === null ? null : (
            <path
              class="chart-dots is-near"
              d={`M${plotX(x.at[marked] ?? 0)} ${plotY(y.at[marked] ?? 0)}h0`}
            />
          )}
        </svg>
        <div class="chart-x" aria-hidden="true">
          {x.ticks.map((tick) => (
            <span
              class="chart-tick"
              key={`${tick.at} ${tick.text}`}
              style={{
                left: percent(plotX(tick.at), PLOT_WIDTH),
                transform: `translateX(-${percent(plotX(tick.at), PLOT_WIDTH)})`,
              }}
            >
              {tick.text}
            </span>
          ))}
        </div>
      </div>
      <p class="chart-axis" aria-hidden="true">
        {x.name}
      </p>
      <p class="plot-near" aria-hidden="true">
        {marked === null ? "\u00a0" : describe(marked)}
      </p>
    </figure>
  );
}

/** An entry of a plot's legend: the dot of a mark, a bar, or the colour of so many regions above each other. */
export function Key({
  mark,
  bar,
  level = 0,
  children,
}: {
  readonly mark?: Mark;
  readonly bar?: BarKind;
  readonly level?: number;
  readonly children: ComponentChildren;
}) {
  return (
    <li>
      <svg class="plot-key" viewBox="0 0 16 16" aria-hidden="true">
        {Array.from({ length: level }, (_, i) => (
          <path class="contour-level" key={`level ${i}`} d="M0 0H16V16H0z" />
        ))}
        {bar === undefined ? null : <path class="bar" data-kind={bar} d="M0 0H16V16H0z" />}
        {mark === undefined ? null : <path class="chart-dots" data-mark={mark} d="M8 8h0" />}
      </svg>
      <span class="plot-key-text">{children}</span>
    </li>
  );
}
