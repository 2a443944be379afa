// Entry of Node's gpu thread: owns a Dawn device. `workerData` is the path of npm's `webgpu` module.

import { parentPort, workerData } from "node:worker_threads";
import { GpuService, type ToGpuThread } from "./gpu_service.ts";
import { openDawn } from "./node_gpu.ts";

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread.");

const waiting: ToGpuThread[] = [];
let service: GpuService | undefined;
port.on("message", (message: ToGpuThread) => {
  if (service === undefined) waiting.push(message);
  else service.receive(message);
});
service = new GpuService(await openDawn(String(workerData)), (message) =>
  port.postMessage(message),
);
for (const message of waiting.splice(0)) service.receive(message);
