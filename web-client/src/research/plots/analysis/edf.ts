// The empirical distribution function of an objective, as `optuna.visualization.plot_edf` computes it: the share of complete
// trials whose value is at most x, at 100 places between the smallest and the largest value. Page thread; pure.

/** The number of places at which Optuna computes the function. */
export const EDF_PLACES = 100;

export interface Edf {
  readonly xs: Float64Array;
  /** The share of values that are at most x, for each x. */
  readonly shares: Float64Array;
}

/** Returns the function of these finite values; null without a value. */
export function edfOf(values: readonly number[]): Edf | null {
  const sorted = Float64Array.from(values).sort();
  const [least, most] = [sorted[0], sorted.at(-1)];
  if (least === undefined || most === undefined) {
    return null;
  }
  // As numpy.linspace: multiples of the step from the start, and the end itself. The difference of two doubles may be
  // infinite; then halves are used.
  const wide = !Number.isFinite(most - least);
  const step = (most - least) / (EDF_PLACES - 1);
  const xs = Float64Array.from({ length: EDF_PLACES }, (_, i) => {
    if (i === EDF_PLACES - 1) {
      return most;
    }
    const part = i / (EDF_PLACES - 1);
    // NumPy, too, has a rule of its own for a step that is too small for a double.
    const along = step === 0 ? part * (most - least) : i * step;
    return wide ? least * (1 - part) + most * part : along + least;
  });
  let below = 0;
  const shares = Float64Array.from(xs, (x) => {
    while (below < sorted.length && (sorted[below] as number) <= x) {
      below += 1;
    }
    return below / sorted.length;
  });
  return { xs, shares };
}
