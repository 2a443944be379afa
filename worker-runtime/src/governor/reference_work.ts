// A fixed piece of work whose time shows how fast the processor is now. Pure; the python thread.

/** The time between two measurements while a trial computes. One takes a few milliseconds on a phone. */
export const REFERENCE_EVERY_MS = 2_000;
const ROUNDS = 200_000;
/** The shortest of these runs counts, because another thread may interrupt one. */
const RUNS = 4;

// The python thread later makes its clock coarse for trial code. This function keeps the precise one.
const preciseNow = performance.now.bind(performance);

/** Returns the milliseconds that the reference work takes now. */
export function referenceMs(now: () => number = preciseNow): number {
  let shortest = Number.POSITIVE_INFINITY;
  let value = 1;
  for (let run = 0; run < RUNS; run += 1) {
    const began = now();
    value = hash(value);
    const ms = now() - began;
    // The value is never 0, which no compiler knows. So none may leave the work out.
    if (value !== 0) shortest = Math.min(shortest, ms);
  }
  return shortest;
}

function hash(seed: number): number {
  let value = seed;
  for (let round = 0; round < ROUNDS; round += 1) {
    value ^= value << 13;
    value ^= value >>> 17;
    value = Math.imul(value ^ (value << 5), 0x2c1b3c6d);
  }
  return value;
}
