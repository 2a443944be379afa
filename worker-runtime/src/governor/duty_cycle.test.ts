import { describe, expect, it } from "vitest";
import { DutyCycle, LONGEST_REST_MS, SHORTEST_REST_MS } from "./duty_cycle.ts";

/** Works in pieces of `pieceMs` and rests as the cycle says. Returns the part of the time in which it worked. */
function workedPart(pieceMs: number, percent: number, pieces: number): number {
  const duty = new DutyCycle(0);
  let now = 0;
  for (let i = 0; i < pieces; i += 1) {
    now += pieceMs;
    const rest = duty.step(now, percent);
    if (rest === 0) continue;
    now += rest;
    duty.resumed(now);
  }
  return (pieces * pieceMs) / now;
}

describe("the duty cycle", () => {
  it.each([
    [1, 50],
    [1, 25],
    [0.3, 75],
    [400, 50],
    [7_000, 25],
  ])("works in pieces of %d ms for %i %% of the time", (pieceMs, percent) => {
    expect(workedPart(pieceMs, percent, 10_000)).toBeCloseTo(percent / 100, 2);
  });

  it("never rests if all of the time is lent", () => {
    for (const percent of [0, 100]) expect(workedPart(1_000, percent, 100)).toBe(1);
  });

  it("does not count the time before the share was set", () => {
    const duty = new DutyCycle(0);
    expect(duty.step(60_000, 100)).toBe(0);
    expect(duty.step(60_001, 50)).toBe(0);
    expect(duty.step(60_100, 50)).toBe(100);
  });

  it("does not count a wait for the server as work, nor a clock that goes back", () => {
    const duty = new DutyCycle(0);
    duty.resumed(30_000);
    expect(duty.step(30_010, 50)).toBe(0);
    expect(duty.step(30_000 + SHORTEST_REST_MS, 50)).toBe(SHORTEST_REST_MS);
    expect(duty.step(0, 50)).toBe(0);
  });

  it("bounds the rest after a piece without an end", () => {
    expect(new DutyCycle(0).step(3_600_000, 25)).toBe(LONGEST_REST_MS);
  });
});
