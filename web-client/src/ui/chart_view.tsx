// A chart with two axes. Labels are HTML, so that they keep their size when the drawing is stretched. A screen reader
// speaks a summary of the drawing, because the values are in a table elsewhere on the page. Page thread.

import type { Chart as Geometry } from "./chart.ts";
import { CHART_HEIGHT, CHART_WIDTH } from "./chart.ts";

interface Props {
  readonly chart: Geometry;
  /** The style of the chart; `many` draws many thin lines. */
  readonly kind: "dots" | "line" | "many";
  readonly title: string;
  readonly summary: string;
  readonly xLabel: string;
  readonly value: (value: number) => string;
  readonly step: (value: number) => string;
  /** What the pointer does: it is at a place in the drawing's coordinates, it has left, or it presses there. */
  readonly pointer?: {
    readonly at: (x: number, y: number) => void;
    readonly leave: () => void;
    readonly press: (x: number, y: number) => void;
  };
}

/** Returns where the pointer is in the drawing. */
function placeOf(
  event: MouseEvent & { readonly currentTarget: SVGSVGElement },
): readonly [x: number, y: number] {
  const box = event.currentTarget.getBoundingClientRect();
  return [
    ((event.clientX - box.left) / box.width) * CHART_WIDTH,
    ((event.clientY - box.top) / box.height) * CHART_HEIGHT,
  ];
}

export function Chart({ chart, kind, title, summary, xLabel, value, step, pointer }: Props) {
  const percent = (at: number) => `${Math.round(at * 1000) / 10}%`;
  const y = (at: number) => CHART_HEIGHT * (1 - at);
  const lines = chart.lines.map((line, i) => (
    <path
      class={kind === "many" ? "chart-line is-thin" : "chart-line"}
      key={`line ${i}`}
      d={line}
    />
  ));
  return (
    <figure class="chart">
      <figcaption class="label">{title}</figcaption>
      <div class="chart-body">
        <div class="chart-y" aria-hidden="true">
          {/* The widest label, unseen, gives the column its width. */}
          {chart.yTicks.map((tick) => (
            <span class="chart-room" key={`room ${tick.value}`}>
              {value(tick.value)}
            </span>
          ))}
          {chart.yTicks.map((tick) => (
            <span class="chart-tick" key={tick.value} style={{ bottom: percent(tick.at) }}>
              {value(tick.value)}
            </span>
          ))}
        </div>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard has a table. */}
        <svg
          class="chart-plot"
          viewBox={`0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summary}
          onPointerMove={(event) => pointer?.at(...placeOf(event))}
          onPointerLeave={() => pointer?.leave()}
          onClick={(event) => pointer?.press(...placeOf(event))}
        >
          {chart.yTicks.map((tick) => (
            <path class="chart-grid" key={tick.value} d={`M0 ${y(tick.at)}H${CHART_WIDTH}`} />
          ))}
          {chart.faint?.map((line, i) => (
            <path class="chart-line is-faint" key={`faint ${i}`} d={line} />
          ))}
          {kind === "many" ? lines : null}
          {chart.best === "" ? null : <path class="chart-best" d={chart.best} />}
          {kind === "line" ? lines : null}
          <path class={kind === "dots" ? "chart-dots" : "chart-dots is-small"} d={chart.dots} />
        </svg>
        <div class="chart-x" aria-hidden="true">
          {chart.xTicks.map((tick) => (
            <span
              class="chart-tick"
              // The first and the last label stay inside the box, and the others are centred.
              key={tick.value}
              style={{ left: percent(tick.at), transform: `translateX(-${percent(tick.at)})` }}
            >
              {step(tick.value)}
            </span>
          ))}
        </div>
      </div>
      <p class="chart-axis" aria-hidden="true">
        {xLabel}
      </p>
    </figure>
  );
}
