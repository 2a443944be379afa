// An attempt that is kept while the page is hidden or paused: Python may save, is parked, and in the end the attempt is
// given back. Pure: callers pass the time. Owned by machine.ts on the agent thread.

import type { Attempt } from "./attempt.ts";

/** An attempt is kept for this many leases. Then another device gets its trial. */
const KEPT_LEASES = 4;
/** The time that a trial has to save a checkpoint before Python is parked. */
const SAVE_MS = 2_000;
/** The time in which Python must be parked. Otherwise the attempt is given back, because it would compute on. */
const PARK_MS = 5_000;

export type RestDue = "park" | "give_back" | null;

export class Rest {
  readonly #until: number;
  #parkAt: number | null;
  #parkedBy: number | null = null;

  constructor(attempt: Attempt, now: number) {
    this.#parkAt = now + SAVE_MS;
    this.#until = now + keptMs(attempt, now);
  }

  get deadlines(): readonly (number | null)[] {
    return [this.#parkAt, this.#parkedBy, this.#until];
  }

  /** Returns what the agent must do now. `computes` is whether Python runs the attempt's code. */
  due(now: number, computes: boolean): RestDue {
    if (now >= this.#until) return "give_back";
    if (this.#parkAt !== null && now >= this.#parkAt) {
      this.#parkAt = null;
      this.#parkedBy = now + PARK_MS;
      return "park";
    }
    if (this.#parkedBy === null || now < this.#parkedBy) return null;
    this.#parkedBy = null;
    return computes ? "give_back" : null;
  }
}

/** Returns how long an attempt is kept. Half of the time that its study allows for a run is left for the run itself. */
function keptMs(attempt: Attempt, now: number): number {
  const { lease_ms, time_limit_ms } = attempt.lease;
  const most = KEPT_LEASES * lease_ms;
  if (time_limit_ms === 0) return most;
  const left = attempt.runningAt === null ? time_limit_ms : attempt.runningAt + time_limit_ms - now;
  return Math.min(most, Math.max(0, left / 2));
}
