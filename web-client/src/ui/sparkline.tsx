// The live curve of a trial's reported values. Labels are HTML, so that they keep their size when the
// drawing is stretched. Page thread.

import type { Dictionary } from "../i18n/dictionary.ts";
import type { Formatter } from "../i18n/format.ts";
import { CURVE_HEIGHT, CURVE_WIDTH, curveOf, type Point } from "./curve.ts";

interface Props {
  readonly points: readonly Point[];
  readonly words: Dictionary["trial"];
  readonly format: Formatter;
}

export function Sparkline({ points, words, format }: Props) {
  const curve = curveOf(points);
  if (curve === null) {
    return <p class="curve-empty">{words.curveEmpty}</p>;
  }
  const value = (number: number) => format.metric(number);
  const flat = curve.minValue === curve.maxValue;
  return (
    <figure class="curve">
      <figcaption class="curve-head">
        <span>{words.curve}</span>
        <span>
          {words.latest} <strong>{value(curve.lastValue)}</strong>
        </span>
      </figcaption>
      <div class="curve-body">
        <svg
          class="curve-plot"
          viewBox={`0 0 ${CURVE_WIDTH} ${CURVE_HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={words.curveSummary(
            curve.count,
            value(curve.firstValue),
            value(curve.lastValue),
          )}
        >
          <path class="curve-line" d={curve.path} />
          <path class="curve-end" d={curve.end} />
        </svg>
        <div class={flat ? "curve-range is-flat" : "curve-range"} aria-hidden="true">
          <span>{value(curve.maxValue)}</span>
          {flat ? null : <span>{value(curve.minValue)}</span>}
        </div>
      </div>
      <div class="curve-steps" aria-hidden="true">
        <span>{words.step(format.integer(curve.firstStep))}</span>
        {curve.lastStep === curve.firstStep ? null : (
          <span>{words.step(format.integer(curve.lastStep))}</span>
        )}
      </div>
    </figure>
  );
}
