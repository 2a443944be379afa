// A worker thread that acts as the python thread in channel.test.ts. It runs the blocking end of the channel. Node.

import { parentPort, workerData } from "node:worker_threads";
import { openBlock, Word } from "./block.ts";
import { Caller, ReportWindow } from "./caller.ts";

export type Job =
  | { readonly kind: "call"; readonly method: string; readonly timeoutMs: number }
  | {
      readonly kind: "report";
      readonly points: number;
      readonly limit: number;
      readonly timeoutMs: number;
    };

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread.");

const block = openBlock(workerData as SharedArrayBuffer);

function checkInterrupt(): void {
  if (Atomics.load(block.header, Word.interrupt) !== 0) throw new Error("KeyboardInterrupt");
}

const caller = new Caller({
  block,
  post: (request) => port.postMessage({ kind: "request", request }),
  checkInterrupt,
});

function perform(job: Job): string {
  if (job.kind === "call") return caller.call(job.method, "{}", job.timeoutMs);
  const window = new ReportWindow(block, job.limit, checkInterrupt);
  let admitted = 0;
  while (admitted < job.points && window.admit(job.timeoutMs)) admitted += 1;
  return String(admitted);
}

port.on("message", (job: Job) => {
  const startedAt = performance.now();
  let text: string;
  try {
    text = perform(job);
  } catch (error) {
    text = error instanceof Error ? error.message : String(error);
  }
  port.postMessage({ kind: "done", text, ms: performance.now() - startedAt });
});
