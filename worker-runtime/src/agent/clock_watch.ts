// Measures whether the browser lets a thread run on time. Browsers slow hidden pages down or freeze them, each by rules of
// its own, so this is measured and not known. Agent thread.

/** The time between two looks at the clock. */
const LOOK_MS = 1_000;
/** A look that comes later than this was slowed down. A busy device is late too, but seldom by so much. */
export const LATE_MS = 10_000;

export interface WatchedClock {
  /** Returns a time that never goes back, in milliseconds. */
  now(): number;
  /** Calls `look` about every `ms` milliseconds until the returned function is called. */
  every(ms: number, look: () => void): () => void;
}

const CLOCK: WatchedClock = {
  now: () => performance.now(),
  every: (ms, look) => {
    const timer = setInterval(look, ms);
    return () => clearInterval(timer);
  },
};

/** Calls `onLate` each time that the thread was held up for long. Returns a function that ends the watch. */
export function watchClock(onLate: () => void, clock: WatchedClock = CLOCK): () => void {
  let lookedAt = clock.now();
  return clock.every(LOOK_MS, () => {
    const now = clock.now();
    const isLate = now - lookedAt >= LATE_MS;
    lookedAt = now;
    if (isLate) onLate();
  });
}
