// Shares the processor by time: after each piece of work, a rest in proportion to it. Pure; the python thread.
//
//     const rest = duty.step(performance.now(), 50); // the milliseconds to rest now
//     ... rest ...
//     duty.resumed(performance.now());

/** Shorter rests are saved up, because a thread cannot wait so exactly. */
export const SHORTEST_REST_MS = 20;
/** The longest rest after one piece of work. */
export const LONGEST_REST_MS = 60_000;

export class DutyCycle {
  #resumedAt: number;

  constructor(nowMs: number) {
    this.#resumedAt = nowMs;
  }

  /**
   * Returns how long to rest now, 0 for not at all. `percent` is the part of the time that is lent; 0 and 100 are all of
   * it.
   */
  step(nowMs: number, percent: number): number {
    if (percent <= 0 || percent >= 100) {
      this.#resumedAt = nowMs;
      return 0;
    }
    const workedMs = Math.max(0, nowMs - this.#resumedAt);
    const restMs = (workedMs * (100 - percent)) / percent;
    return restMs < SHORTEST_REST_MS ? 0 : Math.min(restMs, LONGEST_REST_MS);
  }

  /** The work goes on, after a rest or a wait for the server. */
  resumed(nowMs: number): void {
    this.#resumedAt = nowMs;
  }
}
