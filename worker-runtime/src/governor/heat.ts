// Notices heat without a sensor, by the device's pace against its own best, and lets the processor rest while that
// pays. A pure state machine: samples in, a share of the processor out. Page thread.
//
//     let heat = coolHeat();
//     heat = sampled(heat, { nowMs, pace: 0.8 });
//     heat.share; // 1, 0.5 or 0.25
//
// The pace is that of a fixed piece of work (reference_work.ts), which runs between the steps of trials. The steps
// themselves are no measure: the first one compiles, some evaluate, and the next trial has another batch size. If a
// slow phase ended during a rest, it would look as if the rest had helped.
//
// Slowness may have another cause than heat, such as a new clock rate or another program. So the processor rests to
// find out. If the pace rises, it was heat. If not, the slow pace counts as the best from then on. Even against heat a
// rest may cost more than it brings. So each rest is paid from a credit of time: it costs the work that would have been
// done at the slow pace, and the faster pace afterwards pays that back. The credit grows by a fixed share of the time
// of computing, which bounds what false alarms cost.

export interface PaceSample {
  /** A time that never goes back, in milliseconds. */
  readonly nowMs: number;
  /** The speed of the reference work, in any unit. */
  readonly pace: number;
}

export type HeatShare = 1 | 0.5 | 0.25;

/** A cooling that runs. */
interface Cooling {
  readonly beganAt: number;
  /** The time at which the present share began. */
  readonly shareAt: number;
  /** Whether the pace has risen, so that the slowness was heat. */
  readonly isHeat: boolean;
}

export interface Heat {
  readonly share: HeatShare;
  readonly cooling: Cooling | null;
  readonly lastAt: number | null;
  /** The newest samples with the present share; those of the last SLOW_MS while the processor does not rest. */
  readonly samples: readonly PaceSample[];
  /** The best pace that lasted for a few samples; 0 before the first one. */
  readonly best: number;
  /** The mean pace before the last cooling; 0 before the first one. */
  readonly slow: number;
  /** What rests may still cost, in milliseconds. */
  readonly creditMs: number;
  /** What the last rest has cost and not yet brought back, in milliseconds. */
  readonly costMs: number;
  /** How long a cooling lasts at least, in milliseconds. */
  readonly restForMs: number;
  /** The time at which the last cooling ended; null before that. */
  readonly cooledAt: number | null;
}

/** The mean pace of this time is compared with the best. A device that recovers by itself within it needs no rest. */
export const SLOW_MS = 120_000;
/** The number of samples whose median is the present pace. */
export const MEDIAN_SAMPLES = 5;
/** Below this part of the best pace, the processor rests. */
const SLOW = 0.6;
/** From this part of the best pace on, the device has recovered. */
const RECOVERED = 0.9;
/** The pace must rise by this factor for the slowness to be heat. */
const RISE = 1.2;
/** The time after which half of the time has not helped, and the time with a quarter after which no rest helps. */
const HALF_MS = 60_000;
const QUARTER_MS = 120_000;
/** The shortest cooling of a device that recovers. It doubles if the heat soon comes back. */
const REST_MS = 60_000;
const LONGEST_REST_MS = 480_000;
const SOON_MS = 300_000;
/** A device that has not recovered by now gets no better. */
const LONGEST_COOLING_MS = 900_000;
/** What a rest costs that does not help at all. A cooling begins only with this credit. */
export const EXPERIMENT_MS = 0.5 * HALF_MS + 0.75 * QUARTER_MS;
/** The part of the time of computing that rests may cost, besides the first experiment. */
export const CREDIT_SHARE = 0.05;
/** The longest time between two samples that counts, because a device that slept did not compute. */
const LONGEST_GAP_MS = 5_000;

/** A device about whose heat nothing is known. */
export function coolHeat(): Heat {
  return {
    share: 1,
    cooling: null,
    lastAt: null,
    samples: [],
    best: 0,
    slow: 0,
    creditMs: EXPERIMENT_MS,
    costMs: 0,
    restForMs: REST_MS,
    cooledAt: null,
  };
}

/** Takes a sample. Samples come every few seconds while a trial computes. */
export function sampled(before: Heat, sample: PaceSample): Heat {
  const { nowMs } = sample;
  const passedMs = before.lastAt === null ? 0 : nowMs - before.lastAt;
  const paid = pay(before, sample.pace, Math.min(LONGEST_GAP_MS, Math.max(0, passedMs)));
  const isWatched = paid.cooling === null;
  const kept = isWatched
    ? paid.samples.filter((one) => nowMs - one.nowMs <= SLOW_MS)
    : paid.samples.slice(1 - MEDIAN_SAMPLES);
  const next = { ...paid, lastAt: nowMs, samples: [...kept, sample] };
  return next.cooling === null ? watched(next, nowMs) : cooled(next, next.cooling, nowMs);
}

/** Keeps account of what rests cost and bring, against the slow pace at which the work would have gone on. */
function pay(before: Heat, pace: number, passedMs: number): Heat {
  const { share, cooling, slow, creditMs, costMs } = before;
  if (slow === 0) return before; // The credit is full, because nothing has cost anything.
  const gainMs = (passedMs * (share * pace - slow)) / slow;
  const backMs = Math.max(-Infinity, Math.min(costMs, gainMs));
  // After a rest, only the pace above the slow one pays back. The pace below it is what the next cooling is for.
  const changeMs = cooling === null ? Math.max(0, backMs) : backMs;
  const grownMs = cooling === null ? CREDIT_SHARE * passedMs : 0;
  return {
    ...before,
    costMs: costMs - changeMs,
    creditMs: Math.min(EXPERIMENT_MS, creditMs + changeMs + grownMs),
  };
}

/** With all of the time: was the pace far below the best for a while? */
function watched(state: Heat, nowMs: number): Heat {
  const { samples, cooledAt, creditMs } = state;
  if (samples.length < MEDIAN_SAMPLES) return state;
  const best = Math.max(state.best, presentPace(state));
  const first = samples[0]?.nowMs ?? nowMs;
  const slow = samples.reduce((sum, { pace }) => sum + pace, 0) / samples.length;
  const isLong = nowMs - first >= SLOW_MS - LONGEST_GAP_MS;
  if (!isLong || slow >= SLOW * best || creditMs < EXPERIMENT_MS) return { ...state, best };
  const isSoon = cooledAt !== null && nowMs - cooledAt < SOON_MS;
  const restForMs = isSoon ? Math.min(LONGEST_REST_MS, 2 * state.restForMs) : REST_MS;
  const cooling = { beganAt: nowMs, shareAt: nowMs, isHeat: false };
  return withShare({ ...state, best, slow, cooling, restForMs, costMs: 0 }, 0.5);
}

/** While the processor rests: does it help, and has the device recovered? */
function cooled(state: Heat, before: Cooling, nowMs: number): Heat {
  const { share, samples, slow, best, restForMs, creditMs } = state;
  if (samples.length < MEDIAN_SAMPLES) return creditMs > 0 ? state : ended(state, before, nowMs);
  const pace = presentPace(state);
  const cooling = { ...before, isHeat: before.isHeat || pace >= RISE * slow };
  const next = { ...state, best: Math.max(best, pace), cooling };
  const inShareMs = nowMs - cooling.shareAt;
  const inAllMs = nowMs - cooling.beganAt;
  const hasRecovered = pace >= RECOVERED * best;
  if (creditMs <= 0 || inAllMs >= LONGEST_COOLING_MS) return ended(next, cooling, nowMs);
  if (share === 0.5) {
    if (hasRecovered) return inAllMs >= restForMs ? ended(next, cooling, nowMs) : next;
    return inShareMs < HALF_MS ? next : moved(next, cooling, 0.25, nowMs);
  }
  if (hasRecovered) return moved(next, cooling, 0.5, nowMs);
  return inShareMs < QUARTER_MS || cooling.isHeat ? next : ended(next, cooling, nowMs);
}

function moved(state: Heat, cooling: Cooling, share: HeatShare, nowMs: number): Heat {
  return withShare({ ...state, cooling: { ...cooling, shareAt: nowMs } }, share);
}

/** The work goes on with all of the time. If no rest helped, the slow pace is the best that the device has now. */
function ended(state: Heat, { isHeat }: Cooling, nowMs: number): Heat {
  const hasPace = state.samples.length >= MEDIAN_SAMPLES;
  const best = isHeat ? state.best : hasPace ? presentPace(state) : state.slow;
  return withShare({ ...state, cooling: null, cooledAt: nowMs, best }, 1);
}

/** Samples under another share are not mixed with these. */
function withShare(state: Heat, share: HeatShare): Heat {
  return { ...state, share, samples: [] };
}

/** Returns the median of the newest samples. */
function presentPace({ samples }: Heat): number {
  const paces = samples.slice(-MEDIAN_SAMPLES).map(({ pace }) => pace);
  return paces.sort((a, b) => a - b)[Math.floor(paces.length / 2)] ?? 0;
}
