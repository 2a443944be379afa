// A phone that throttles: a first-order thermal model, for the tests of heat.ts. Pure.
//
// Its temperature follows the power with one time constant. Above the trip temperature, the processor's clock falls to
// the throttled pace, and it rises again below the release temperature. Power has a static part while a thread runs
// (memory, caches, the lowest voltage), so that a deeply throttled processor does less work per joule than a fast one.

import { coolHeat, type Heat, sampled } from "./heat.ts";

export interface Phone {
  readonly ambientC: number;
  /** The rise of the temperature per watt, and the time constant in seconds. */
  readonly kelvinPerWatt: number;
  readonly secondsOfTau: number;
  readonly tripC: number;
  readonly releaseC: number;
  /** The pace while it throttles, as a part of the full pace. */
  readonly throttled: number;
  /** Power in watts: while idle, more while a thread runs, and more with the clock (`clockWatt * pace ** exponent`). */
  readonly idleWatt: number;
  readonly activeWatt: number;
  readonly clockWatt: number;
  readonly exponent: number;
}

/** A phone that falls to 40 % when it is hot, and cannot cool down as long as it works all of the time. */
export const PHONE: Phone = {
  ambientC: 25,
  kelvinPerWatt: 7,
  secondsOfTau: 240,
  tripC: 43,
  releaseC: 39,
  throttled: 0.4,
  idleWatt: 0.3,
  activeWatt: 1,
  clockWatt: 3.2,
  exponent: 1,
};

export interface Run {
  /** The work that was done, in seconds at the full pace. */
  readonly work: number;
  readonly meanC: number;
  readonly highestC: number;
  /** The part of the time in which the processor rested. */
  readonly rested: number;
  readonly heat: Heat;
}

const TICK_S = 0.25;
/** The time between two samples of the pace. */
const SAMPLE_S = 2;

/** Computes for `seconds` on a phone, with the rule or without it. `noise` distorts each sample by a factor. */
export function compute(
  phone: Phone,
  seconds: number,
  withRule: boolean,
  noise: () => number = () => 1,
): Run {
  let celsius = phone.ambientC;
  let isThrottled = false;
  let heat = coolHeat();
  let work = 0;
  let rested = 0;
  let sum = 0;
  let highestC = celsius;
  for (let i = 0; i < seconds / TICK_S; i += 1) {
    const share = withRule ? heat.share : 1;
    if (celsius >= phone.tripC) isThrottled = true;
    else if (celsius <= phone.releaseC) isThrottled = false;
    const pace = isThrottled ? phone.throttled : 1;
    work += share * TICK_S * pace;
    rested += (1 - share) * TICK_S;
    const { idleWatt, activeWatt, clockWatt, exponent, ambientC } = phone;
    const watt = idleWatt + share * (activeWatt + clockWatt * pace ** exponent);
    const target = ambientC + watt * phone.kelvinPerWatt;
    celsius += ((target - celsius) * TICK_S) / phone.secondsOfTau;
    sum += celsius * TICK_S;
    highestC = Math.max(highestC, celsius);
    const second = i * TICK_S;
    if (second % SAMPLE_S === 0) {
      heat = sampled(heat, { nowMs: second * 1_000, pace: pace * noise() });
    }
  }
  return { work, meanC: sum / seconds, highestC, rested: rested / seconds, heat };
}
