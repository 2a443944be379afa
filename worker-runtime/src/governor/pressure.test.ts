import { describe, expect, it } from "vitest";
import {
  CALM_MS,
  LONGEST_CALM_MS,
  noPressure,
  type Pressure,
  type PressureState,
  passed,
  reported,
} from "./pressure.ts";

/** Each step is a state or a number of seconds that pass, with the share after it. */
type Step = readonly [PressureState | number | null, Pressure["share"]];

const TABLE: readonly (readonly [name: string, steps: readonly Step[]])[] = [
  ["nothing is limited without a report", [[3_600, 1]]],
  [
    "nominal and fair limit nothing",
    [
      ["nominal", 1],
      ["fair", 1],
    ],
  ],
  [
    "serious asks for half and critical for a quarter, at once",
    [
      ["serious", 0.5],
      ["critical", 0.25],
      [3_600, 0.25],
    ],
  ],
  [
    "the share rises one stage after each calm time",
    [
      ["critical", 0.25],
      ["nominal", 0.25],
      [9, 0.25],
      [1, 0.5],
      [10, 0.5],
      [1, 1],
    ],
  ],
  [
    "from critical to serious, it rises to half and stays there",
    [
      ["critical", 0.25],
      ["serious", 0.25],
      [10, 0.5],
      [600, 0.5],
    ],
  ],
  [
    "pressure within the calm time begins it anew",
    [
      ["serious", 0.5],
      ["fair", 0.5],
      [9, 0.5],
      ["serious", 0.5],
      ["fair", 0.5],
      [9, 0.5],
      [1, 1],
    ],
  ],
  [
    "an unknown pressure limits nothing",
    [
      ["critical", 0.25],
      [null, 1],
      ["critical", 0.25],
    ],
  ],
];

function run(steps: readonly Step[]): void {
  let pressure = noPressure();
  let nowMs = 0;
  for (const [index, [event, share]] of steps.entries()) {
    if (typeof event === "number") {
      for (let second = 0; second < event; second += 1) {
        nowMs += 1_000;
        pressure = passed(pressure, nowMs);
      }
    } else {
      pressure = reported(pressure, event, nowMs);
    }
    expect(pressure.share, `step ${index}`).toBe(share);
  }
}

describe("the pressure", () => {
  it.each(TABLE)("%s", (_, steps) => run(steps));

  it("of the page's own load makes the share change ever less often", () => {
    // Two cores: all of the time is serious, half of it is fair.
    let pressure = noPressure();
    const rises: number[] = [];
    for (let nowMs = 0; nowMs < 1_800_000; nowMs += 1_000) {
      const before = pressure.share;
      pressure = reported(pressure, before === 1 ? "serious" : "fair", nowMs);
      if (before < pressure.share) rises.push(nowMs);
    }
    const gaps = rises.slice(1).map((at, i) => at - (rises[i] ?? 0));
    expect(gaps.slice(0, 5)).toEqual([22_000, 42_000, 82_000, 162_000, 162_000]);
    expect(Math.max(...gaps)).toBe(LONGEST_CALM_MS + 2_000);
    expect(rises[0]).toBe(CALM_MS + 1_000);
  });
});
