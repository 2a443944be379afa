// Tests how the times of the main thread are read from a trace, with invented events.

import { expect, test } from "vitest";
import { mainThreadOf } from "./main_thread.ts";

const name = (tid: number, thread: string) => ({
  name: "thread_name",
  ph: "M",
  pid: 1,
  tid,
  args: { name: thread },
});
const task = (tid: number, tdur: number) => ({
  name: "ThreadControllerImpl::RunTask",
  ph: "X",
  pid: 1,
  tid,
  tdur,
});

test("Tasks of the page's own thread count, by their CPU time.", () => {
  const names = [name(1, "CrRendererMain"), name(2, "DedicatedWorker thread")];
  const events = [...names, task(1, 1_500), task(2, 900_000), task(1, 49_000)];
  expect(mainThreadOf(events)).toEqual({ tasks: 2, longestMs: 49 });
});

test("A trace without such a task proves nothing.", () => {
  expect(() => mainThreadOf([name(2, "DedicatedWorker thread"), task(2, 1)])).toThrow(/no task/);
});
