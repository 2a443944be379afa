// Turns the browser's Compute Pressure into a share of the processor. Pure; page thread.
//
// The state is that of the whole device, with the load of this page in it. A trial keeps one core busy, so on two cores
// or more its own load alone is no "serious" state. A page without the system's focus gets no states: then the pressure
// is unknown, and nothing is limited by it.

/** The states of a PressureRecord. */
export const PRESSURE_STATES = ["nominal", "fair", "serious", "critical"] as const;
export type PressureState = (typeof PRESSURE_STATES)[number];

export interface Pressure {
  readonly state: PressureState | null;
  readonly share: 1 | 0.5 | 0.25;
  /** Since when the state allows a larger share; null while it does not. */
  readonly calmSince: number | null;
  /** How long the state must stay calm before the share rises, in milliseconds. */
  readonly calmForMs: number;
  /** The time at which the share last rose to all; null before that. */
  readonly roseAt: number | null;
}

/** How long the state must be calm before the share rises. It doubles if the pressure soon comes back. */
export const CALM_MS = 10_000;
export const LONGEST_CALM_MS = 160_000;
/** The pressure has come back soon if it comes within this time. The page's own load is then a likely cause. */
const SOON_MS = 30_000;

export function noPressure(): Pressure {
  return { state: null, share: 1, calmSince: null, calmForMs: CALM_MS, roseAt: null };
}

/** Takes the browser's state, which is null if it is unknown. Less of the processor is used at once. */
export function reported(before: Pressure, state: PressureState | null, nowMs: number): Pressure {
  const next = { ...before, state };
  const wanted = shareOf(state);
  if (state === null) return { ...next, share: 1, calmSince: null };
  if (wanted >= before.share) return passed(next, nowMs);
  const isSoon = before.roseAt !== null && nowMs - before.roseAt < SOON_MS;
  const calmForMs = isSoon ? Math.min(LONGEST_CALM_MS, 2 * before.calmForMs) : CALM_MS;
  const isFirst = before.share === 1;
  return {
    ...next,
    share: wanted,
    calmSince: null,
    calmForMs: isFirst ? calmForMs : before.calmForMs,
  };
}

/** Time passes. The share rises by one stage after a calm time. */
export function passed(before: Pressure, nowMs: number): Pressure {
  const { state, share, calmForMs } = before;
  if (share === 1 || shareOf(state) <= share) return { ...before, calmSince: null };
  const calmSince = before.calmSince ?? nowMs;
  if (nowMs - calmSince < calmForMs) return { ...before, calmSince };
  const larger = share === 0.25 ? 0.5 : 1;
  return {
    ...before,
    share: larger,
    calmSince: null,
    roseAt: larger === 1 ? nowMs : before.roseAt,
  };
}

/** The share that a state asks for. */
function shareOf(state: PressureState | null): 1 | 0.5 | 0.25 {
  if (state === "critical") return 0.25;
  return state === "serious" ? 0.5 : 1;
}
