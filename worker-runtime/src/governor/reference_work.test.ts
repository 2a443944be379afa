import { expect, test } from "vitest";
import { referenceMs } from "./reference_work.ts";

test("The reference work takes a time, and about the same time again.", () => {
  for (let i = 0; i < 5; i += 1) referenceMs(); // Until it is compiled.
  const times = Array.from({ length: 9 }, () => referenceMs()).sort((a, b) => a - b);
  expect(times[0]).toBeGreaterThan(0.05);
  // Half of the measurements are close, also on a busy machine.
  expect((times[4] ?? 0) / (times[0] ?? 1)).toBeLessThan(3);
});

test("The shortest of several runs counts.", () => {
  const clock = [0, 9, 10, 12, 20, 27, 30, 35];
  expect(referenceMs(() => clock.shift() ?? Number.NaN)).toBe(2);
});
