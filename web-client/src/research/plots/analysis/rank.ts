// The rank of each value among all values, as `optuna.visualization.plot_rank` computes it. Page thread; pure.

/**
 * Returns for each value its place in the order of all values, from 0 (the smallest) to 1 (the largest). Equal values share
 * the mean of their places. A single value is in the middle.
 */
export function rankShares(values: readonly number[]): Float64Array {
  const order = Uint32Array.from(values.keys()).sort((a, b) =>
    compared(values[a] as number, values[b] as number),
  );
  const shares = new Float64Array(values.length);
  if (values.length < 2) {
    return shares.fill(0.5);
  }
  for (let first = 0; first < order.length; ) {
    const value = values[order[first] as number];
    let after = first + 1;
    while (after < order.length && values[order[after] as number] === value) {
      after += 1;
    }
    const mean = (first + after - 1) / 2;
    for (let i = first; i < after; i += 1) {
      shares[order[i] as number] = mean / (values.length - 1);
    }
    first = after;
  }
  return shares;
}

const compared = (a: number, b: number) => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the values at these parts of the order, as `numpy.quantile` does: between two neighbours, in proportion. */
export function quantiles(values: readonly number[], parts: readonly number[]): readonly number[] {
  const sorted = Float64Array.from(values).sort();
  return parts.map((part) => {
    const at = part * (sorted.length - 1);
    const low = sorted[Math.floor(at)] ?? Number.NaN;
    const high = sorted[Math.ceil(at)] ?? Number.NaN;
    return low === high ? low : low + (high - low) * (at - Math.floor(at));
  });
}
