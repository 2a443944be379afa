// Measures what a page's main thread does, with Chromium's own trace. It counts the thread CPU time of each task, which
// does not grow if other processes are busy. Runs in Node. A browser can record only one trace at a time.

import type { Browser, Page } from "playwright-core";

export interface MainThread {
  readonly tasks: number;
  /** The CPU time of the longest task, in ms. */
  readonly longestMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Thread CPU time in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Starts a trace. `page` must be the browser's only page, because the trace names main threads but not their pages. */
export async function traceMainThread(
  browser: Browser,
  page: Page,
): Promise<{ end(): Promise<MainThread> }> {
  // These categories record whole tasks and nothing inside of them. With more categories the trace would overflow and
  // lose its beginning.
  await browser.startTracing(page, {
    categories: ["disabled-by-default-devtools.timeline", "toplevel", "__metadata"],
  });
  return {
    async end() {
      const trace = JSON.parse((await browser.stopTracing()).toString()) as {
        readonly traceEvents: readonly TraceEvent[];
      };
      return mainThreadOf(trace.traceEvents);
    },
  };
}

/** Returns the figures of the renderers' main threads. Throws if the trace has no task of such a thread. */
export function mainThreadOf(events: readonly TraceEvent[]): MainThread {
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ name, ph, pid, tid }) => ph === "X" && /RunTask$/.test(name) && mains.has(`${pid} ${tid}`),
  );
  if (tasks.length === 0) throw new Error("The trace has no task of a page's main thread.");
  return {
    tasks: tasks.length,
    longestMs: Math.max(...tasks.map(({ tdur }) => (tdur ?? 0) / 1000)),
  };
}
