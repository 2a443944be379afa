import { describe, expect, it } from "vitest";
import { CREDIT_SHARE, coolHeat, EXPERIMENT_MS, type HeatShare, SLOW_MS, sampled } from "./heat.ts";
import { compute, PHONE, type Phone } from "./thermal_phone.fixture.ts";

const SAMPLE_MS = 2_000;

/** Runs for `seconds` on a device whose pace depends on time and share. Returns each share with its beginning. */
function watch(seconds: number, pace: (second: number, share: HeatShare) => number) {
  let heat = coolHeat();
  const shares: [second: number, share: HeatShare][] = [[0, 1]];
  let work = 0;
  let slowest = Number.POSITIVE_INFINITY;
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs += SAMPLE_MS) {
    const present = pace(nowMs / 1_000, heat.share);
    slowest = Math.min(slowest, present);
    work += (SAMPLE_MS / 1_000) * heat.share * present;
    const { share } = heat;
    heat = sampled(heat, { nowMs, pace: present });
    if (heat.share !== share) shares.push([nowMs / 1_000, heat.share]);
  }
  return { heat, shares, work, slowest };
}

/**
 * Returns what rests have cost, in seconds of work at the mean pace before each rest. What the device did faster after
 * a rest counts against this rest, and not for others.
 */
function netCost(seconds: number, pace: (second: number) => number): number {
  const paces: number[] = [];
  let last: HeatShare = 1;
  let slow = 0;
  let cost = 0;
  let sum = 0;
  watch(seconds, (second, share) => {
    const present = pace(second);
    if (share < 1 && last === 1) {
      const before = paces.slice(-SLOW_MS / SAMPLE_MS);
      slow = before.reduce((all, one) => all + one, 0) / before.length;
      sum += cost;
      cost = 0;
    }
    const lost = slow === 0 ? 0 : ((slow - share * present) / slow) * (SAMPLE_MS / 1_000);
    cost = Math.max(0, cost + (share < 1 ? lost : Math.min(0, lost)));
    paces.push(present);
    last = share;
    return present;
  });
  return sum + cost;
}

/** A generator of numbers from 0 to 1 with a seed. */
function randomOf(seed: number): () => number {
  let value = seed;
  return () => {
    value = (Math.imul(value, 1_664_525) + 1_013_904_223) >>> 0;
    return value / 2 ** 32;
  };
}

describe("heat by the pace", () => {
  it("is not seen in a steady, a noisy or a slightly slower device", () => {
    const random = randomOf(1);
    expect(watch(7_200, () => 5).shares).toHaveLength(1);
    expect(watch(7_200, () => 5 * (0.85 + 0.15 * random())).shares).toHaveLength(1);
    expect(watch(7_200, (second) => (second < 600 ? 5 : 3.5)).shares).toHaveLength(1);
  });

  it("is not seen in single slow moments, nor in the first slow runs of a new thread", () => {
    const moments = (second: number) => (second % 60 < 20 ? 0.1 : 1);
    expect(watch(3_600, moments).shares).toHaveLength(1);
    expect(watch(3_600, (second) => (second < 20 ? 0.05 : 1)).shares).toHaveLength(1);
  });

  it("gives half of the time at once, and all of it again after the rest that helped", () => {
    // The device recovers after 30 s of rest, and stays well.
    let restedFor = 0;
    const { shares, heat } = watch(900, (second, share) => {
      restedFor += share < 1 ? 2 : 0;
      return second < 300 || restedFor > 30 ? 1 : 0.4;
    });
    expect(shares.map(([, share]) => share)).toEqual([1, 0.5, 1]);
    const [slowAt = 0, wellAt = 0] = shares.slice(1).map(([second]) => second);
    expect(slowAt - 300).toBeLessThanOrEqual(SLOW_MS / 1_000);
    expect(wellAt - slowAt).toBeGreaterThanOrEqual(60);
    expect(wellAt - slowAt).toBeLessThan(70);
    expect(heat.creditMs).toBe(EXPERIMENT_MS);
  });

  it("gives a quarter if half does not help, then half, then all", () => {
    let deepRest = 0;
    const { shares } = watch(1_200, (second, share) => {
      deepRest += share === 0.25 ? 2 : 0;
      return second < 300 || deepRest > 40 ? 1 : 0.4;
    });
    expect(shares.map(([, share]) => share)).toEqual([1, 0.5, 0.25, 0.5, 1]);
  });

  it("rests longer if the heat soon comes back", () => {
    // Each stretch of 100 s with all of the time ends in heat.
    let hot = 0;
    const { shares } = watch(7_200, (_, share) => {
      hot = share === 1 ? hot + 2 : Math.max(0, hot - 10);
      return hot > 100 ? 0.3 : 1;
    });
    const rests = shares
      .map(([second, share], i) => (share === 0.5 ? (shares[i + 1]?.[0] ?? 0) - second : 0))
      .filter((seconds) => seconds > 0);
    expect(rests.length).toBeGreaterThan(3);
    expect(rests[1] ?? 0).toBeGreaterThan(1.5 * (rests[0] ?? 0));
  });

  it("learns that a slowness is no heat, after one experiment", () => {
    // At 300 s the system saves power, whatever the device does.
    const { shares, heat } = watch(7_200, (second) => (second < 300 ? 1 : 0.4));
    expect(shares.map(([, share]) => share)).toEqual([1, 0.5, 0.25, 1]);
    expect(heat.best).toBeLessThan(0.5);
    const [, began = 0, , ended = 0] = shares.map(([second]) => second);
    expect(ended - began).toBeLessThanOrEqual(182);
  });

  it("goes on after a pause in which nothing was sampled", () => {
    const slowAt = watch(400, (second) => (second < 300 ? 1 : 0.2)).heat;
    expect(slowAt.cooling).not.toBeNull();
    const later = sampled(slowAt, { nowMs: 9e6, pace: 0.4 });
    expect(slowAt.creditMs - later.creditMs).toBeGreaterThan(0);
    expect(slowAt.creditMs - later.creditMs).toBeLessThanOrEqual(5_000);
  });
});

describe("a false alarm", () => {
  // The bound: of the work at the slow pace, one experiment and a twentieth of the time.
  const bound = (seconds: number) => EXPERIMENT_MS / 1_000 + CREDIT_SHARE * seconds;

  it.each([600, 1_800, 7_200, 36_000])("costs at most its credit in %d s", (seconds) => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = randomOf(seed);
      // Other programs come and go, so that the device has one of four paces for some minutes, rest or no rest.
      let until = 0;
      let pace = 1;
      const paces = (second: number) => {
        if (second >= until) {
          until = second + 20 + 600 * random();
          pace = [1, 0.5, 0.35, 0.2][Math.floor(4 * random())] ?? 1;
        }
        return pace;
      };
      expect(netCost(seconds, paces), `seed ${seed}`).toBeLessThanOrEqual(bound(seconds));
    }
  });

  it("costs a device that gets slower and slower no more than that", () => {
    const seconds = 36_000;
    const pace = (second: number) => 0.999 ** (second / 10);
    const { work } = watch(seconds, pace);
    let without = 0;
    for (let second = 0; second < seconds; second += 2) without += 2 * pace(second);
    expect(without - work).toBeLessThanOrEqual(bound(seconds));
  });
});

describe("a phone that throttles", () => {
  const hours = 2 * 3_600;
  const small: Phone = { ...PHONE, secondsOfTau: 60 };

  it.each([
    ["a phone", PHONE],
    ["a small phone", small],
    ["a phone in the hand", { ...PHONE, kelvinPerWatt: 6.6 }],
  ])("does at least the work and stays cooler with the rule: %s", (_, phone) => {
    for (const seconds of [hours / 4, hours]) {
      const [ruled, plain] = [compute(phone, seconds, true), compute(phone, seconds, false)];
      expect(ruled.work).toBeGreaterThanOrEqual(plain.work);
      expect(ruled.meanC).toBeLessThan(plain.meanC);
      expect(ruled.highestC).toBeLessThan(plain.highestC + 0.05);
      expect(ruled.rested).toBeGreaterThan(0.02);
    }
  });

  it("does much more work where throttling is deep, at about the same temperature", () => {
    const phone = { ...PHONE, throttled: 0.3, releaseC: 41 };
    const [ruled, plain] = [compute(phone, hours, true), compute(phone, hours, false)];
    expect(ruled.work / plain.work).toBeGreaterThan(1.2);
    expect(ruled.meanC).toBeLessThan(plain.meanC + 0.5);
  });

  it("is left alone where it throttles a little or recovers by itself", () => {
    for (const phone of [
      { ...PHONE, throttled: 0.7 },
      { ...PHONE, throttled: 0.5, exponent: 3, releaseC: 41 },
    ]) {
      expect(compute(phone, hours, true).rested).toBe(0);
    }
  });

  it("loses little where rests do not pay, unless they keep the phone cooler", () => {
    for (const throttled of [0.2, 0.35, 0.55]) {
      for (const exponent of [2, 3]) {
        for (const [ambientC, secondsOfTau] of [
          [20, 60],
          [20, 240],
          [27, 60],
          [35, 600],
        ] as const) {
          const phone = { ...PHONE, ambientC, throttled, exponent, secondsOfTau };
          const [ruled, plain] = [compute(phone, hours, true), compute(phone, hours, false)];
          const lost = 1 - ruled.work / plain.work;
          const name = JSON.stringify({ throttled, exponent, ambientC, secondsOfTau });
          expect(lost, name).toBeLessThan(plain.meanC - ruled.meanC > 1.5 ? 0.2 : 0.07);
        }
      }
    }
  });

  it("is seen through the noise of the measurement", () => {
    const random = randomOf(7);
    const noise = () => 0.9 + 0.1 * random();
    const [ruled, plain] = [compute(PHONE, hours, true, noise), compute(PHONE, hours, false)];
    expect(ruled.work).toBeGreaterThanOrEqual(0.99 * plain.work);
    expect(ruled.meanC).toBeLessThan(plain.meanC);
    expect(ruled.rested).toBeGreaterThan(0.02);
  });
});
