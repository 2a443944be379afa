// A contour plot: the best value near each pair of two parameters, as regions that get stronger the better the value. Page
// thread.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { ResearchStore } from "../research_store.ts";
import { shortNumber } from "../trials/columns.ts";
import { finiteRows } from "./analysis/complete_rows.ts";
import { contourOf } from "./analysis/contour.ts";
import { type FieldPoint, fieldOf, regionAbove } from "./analysis/field.ts";
import { Switch } from "./choices.tsx";
import { PlotFrame } from "./frame/plot_frame.tsx";
import { nearText, openTrial } from "./near_trial.ts";
import { type Pair, PairView } from "./pair_view.tsx";
import { useMarks } from "./plot_rows.ts";
import { PLOT_HEIGHT, PLOT_WIDTH, plotX, plotY } from "./scatter.ts";
import { Key, ScatterPlot } from "./scatter_view.tsx";

/** The number of regions, one above the other. */
const LEVELS = 8;

const round = (value: number) => Math.round(value * 10) / 10;
/** Places a node of the surface. The surface reaches the edges of the plot, where no dots are. */
const place = (x: number, y: number) => {
  const across = x <= 0 ? 0 : x >= 1 ? PLOT_WIDTH : plotX(x);
  const up = y <= 0 ? PLOT_HEIGHT : y >= 1 ? 0 : plotY(y);
  return [round(across), round(up)] as const;
};

interface Props {
  readonly pair: Pair;
  readonly store: ResearchStore;
  readonly isLog: boolean;
}

function ContourPlot({ pair, store, isLog }: Props) {
  const { study, rows, x, y, name } = pair;
  const words = store.words.value.plots;
  const format = store.format.value;
  const objective = pair.objective.value;
  const direction = study.directions[objective] ?? "minimize";
  const contour = useMemo(
    () => contourOf(rows, [x.values, y.values], objective, direction),
    [rows, x.values, y.values, objective, direction],
  );
  const values = useMemo(
    () => rows.map((row) => row.exactValues[objective] ?? Number.NaN),
    [rows, objective],
  );
  const mayLog = isLog && values.every((value) => value > 0);
  const levels = useMemo(() => {
    const sign = direction === "minimize" ? -1 : 1;
    const height = (value: number) => sign * (mayLog ? Math.log10(value) : value);
    const points = rows.flatMap((_, i): FieldPoint[] => {
      const [across, up] = [x.axis.at[i] ?? Number.NaN, y.axis.at[i] ?? Number.NaN];
      return Number.isNaN(across + up)
        ? []
        : [{ x: across, y: up, height: height(values[i] as number) }];
    });
    const field = contour.cells.length === 0 ? null : fieldOf(points);
    if (field === null || !Number.isFinite(field.most - field.least)) {
      return [];
    }
    return Array.from({ length: LEVELS }, (_, i) => {
      const level = field.least + ((i + 1) / (LEVELS + 1)) * (field.most - field.least);
      const value = mayLog ? 10 ** (sign * level) : sign * level;
      return { value, path: regionAbove(field, level, place) };
    });
  }, [rows, x.axis, y.axis, values, contour, direction, mayLog]);
  const markOf = useMarks(study, rows);
  const title = words.contour.title(x.axis.name, y.axis.name);
  const [low, high] = [Math.min, Math.max].map((pick) =>
    values.reduce((one, other) => pick(one, other)),
  );
  const text = direction === "minimize" ? words.contour.atMost : words.contour.atLeast;
  return (
    <PlotFrame
      store={store}
      id="contour"
      title={title}
      table={() => ({
        columns: [x.axis.name, y.axis.name, name],
        rows: contour.cells.map(([across, up, value]) => [
          ...[contour.x.places[across], contour.y.places[up], value],
        ]),
      })}
    >
      <ScatterPlot
        x={x.axis}
        y={y.axis}
        markOf={markOf}
        title={title}
        summary={(dots) =>
          words.contour.summary(
            ...([format.integer(dots), x.axis.name, y.axis.name] as const),
            ...([format.value(low ?? 0), format.value(high ?? 0)] as const),
          )
        }
        under={levels.map(({ path }, i) => (
          <path class="contour-level" key={`level ${i}`} d={path} />
        ))}
        describe={(at) => nearText(rows[at], store)}
        onPick={(at) => openTrial(study, rows[at], store)}
      />
      {levels.length === 0 ? (
        <p class="quiet">{words.contour.flat}</p>
      ) : (
        <ul class="plot-keys">
          {levels.map(({ value }, i) =>
            i % 2 === 1 ? (
              <Key key={`key ${i}`} level={i + 1}>
                {text(shortNumber(value))}
              </Key>
            ) : null,
          )}
          {(["best", "other", "infeasible"] as const).map((mark) =>
            rows.some((_, at) => markOf(at) === mark) ? (
              <Key key={mark} mark={mark} level={LEVELS / 2}>
                {store.words.value.front.marks[mark]}
              </Key>
            ) : null,
          )}
        </ul>
      )}
    </PlotFrame>
  );
}

export function ContourView({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value;
  const wantsLog = useSignal(false);
  return (
    <PairView
      store={store}
      part="contour"
      note={words.plots.contour.note}
      only={finiteRows}
      tools={
        <Switch
          label={words.study.logScale}
          action="log"
          isOn={wantsLog.value}
          onChange={(isOn) => {
            wantsLog.value = isOn;
          }}
        />
      }
      draw={(pair) => <ContourPlot pair={pair} store={store} isLog={wantsLog.value} />}
    />
  );
}
