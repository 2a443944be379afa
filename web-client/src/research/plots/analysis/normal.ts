// The normal distribution's probability of an interval, to about 15 digits, also far from the mean. Page thread; pure.

/** Below this the series of erf is used, above it the continued fraction of erfc. */
const SERIES_TO = 2.5;
const MOST_TERMS = 200;

/** Returns erf(x) for 0 <= x < SERIES_TO by a series whose terms are all positive. */
function erfSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; n < MOST_TERMS && term > sum * 1e-17; n += 1) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** Returns erfc(x) for x >= SERIES_TO by its continued fraction, from the end to the beginning. */
function erfcFraction(x: number): number {
  let fraction = x;
  for (let n = 80; n >= 1; n -= 1) {
    fraction = x + n / 2 / fraction;
  }
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / fraction;
}

/** Returns the probability of a value above `z` standard deviations, for z >= 0. */
function tail(z: number): number {
  const x = z / Math.SQRT2;
  return x < SERIES_TO ? (1 - erfSeries(x)) / 2 : erfcFraction(x) / 2;
}

/** Returns the probability of a value between `low` and `high` standard deviations from the mean. */
export function normalMass(low: number, high: number): number {
  if (low > 0) {
    return tail(low) - tail(high);
  }
  if (high <= 0) {
    return tail(-high) - tail(-low);
  }
  return 1 - tail(-low) - tail(high);
}
