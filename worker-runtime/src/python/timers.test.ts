import { expect, test, vi } from "vitest";
import { type TimerScope, Timers } from "./timers.ts";

const scope = (): TimerScope => ({ setTimeout, setInterval, clearTimeout }) as TimerScope;

test("Timers fire with their values until they are ended, and then none of them fires.", () => {
  vi.useFakeTimers();
  const mine = scope();
  const timers = new Timers(mine);
  const calls: unknown[] = [];
  mine.setTimeout((value: string) => calls.push(value), 10, "once");
  mine.setInterval(() => calls.push("again"), 20);
  mine.setTimeout(() => calls.push("late"), 1_000);
  vi.advanceTimersByTime(45);
  expect(calls).toEqual(["once", "again", "again"]);
  timers.endAll();
  vi.advanceTimersByTime(5_000);
  expect(calls).toHaveLength(3);
  mine.setTimeout(() => calls.push("the next trial's"), 10);
  vi.advanceTimersByTime(10);
  expect(calls.at(-1)).toBe("the next trial's");
  vi.useRealTimers();
});

test("A timer can be ended by the one who started it.", () => {
  vi.useFakeTimers();
  const mine = scope();
  new Timers(mine);
  const calls: string[] = [];
  mine.clearTimeout(mine.setTimeout(() => calls.push("never"), 10) as never);
  vi.advanceTimersByTime(100);
  expect(calls).toEqual([]);
  vi.useRealTimers();
});
