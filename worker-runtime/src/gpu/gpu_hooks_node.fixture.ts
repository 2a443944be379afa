// Entry of a gpu thread with hooks, in Node. `workerData` is the path of npm's `webgpu` module.

import { parentPort, workerData } from "node:worker_threads";
import { HookedGpuThread, type ToHookedThread } from "./gpu_hooks.fixture.ts";
import { openDawn } from "./node_gpu.ts";

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread.");

const waiting: ToHookedThread[] = [];
let thread: HookedGpuThread | undefined;
port.on("message", (message: ToHookedThread) => {
  if (thread === undefined) waiting.push(message);
  else thread.receive(message);
});
thread = new HookedGpuThread(await openDawn(String(workerData)), (message) =>
  port.postMessage(message),
);
for (const message of waiting.splice(0)) thread.receive(message);
