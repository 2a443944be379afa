import { describe, expect, it } from "vitest";
import { allowsMore, type DataLimits, NO_DATA_LIMITS, tooMuchData } from "./data_limits.ts";

const limits = (study: number | null, dayLeft: number | null): DataLimits => ({ study, dayLeft });

describe("a study's data", () => {
  it.each([
    [270, NO_DATA_LIMITS, null],
    [0, limits(0, 0), null],
    [100, limits(100, null), null],
    [101, limits(100, null), "study"],
    [101, limits(100, 50), "study"],
    [51, limits(100, 50), "day"],
    [1, limits(null, 0), "day"],
  ] as const)("of %d bytes with %j: %s", (bytes, limits, rule) => {
    expect(tooMuchData(bytes, limits)).toEqual(rule === null ? null : { rule, bytes });
  });

  it.each([
    [limits(100, null), limits(200, null), true],
    [limits(100, 50), limits(100, 40), false],
    [limits(100, 50), limits(50, 60), true],
    [limits(100, 50), limits(null, 50), true],
    [limits(null, null), limits(1, 1), false],
  ])("may be more from %j to %j: %s", (before, now, isMore) => {
    expect(allowsMore(before, now)).toBe(isMore);
  });
});
