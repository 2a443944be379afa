// Tests the measure of a slowed-down thread, with a clock that the test sets. (The agent's thread.)

import { expect, test } from "vitest";
import { LATE_MS, watchClock } from "./clock_watch.ts";

test("A thread that is held up for long is noticed, and one that is on time is not.", () => {
  let now = 0;
  let look = () => {};
  let late = 0;
  let isWatched = true;
  const end = watchClock(() => (late += 1), {
    now: () => now,
    every: (_ms, callback) => {
      look = callback;
      return () => {
        isWatched = false;
      };
    },
  });
  for (const step of [1_000, 1_200, LATE_MS - 1, 1_000]) {
    now += step;
    look();
  }
  expect(late).toBe(0);
  now += LATE_MS;
  look();
  expect(late).toBe(1);
  end();
  expect(isWatched).toBe(false);
});
