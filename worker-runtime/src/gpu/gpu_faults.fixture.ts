// Entry of a gpu thread for faults.test.ts (Node): a Dawn device that refuses, vanishes or is destroyed as `workerData`
// says.

import { parentPort, workerData } from "node:worker_threads";
import { GpuService, type ToGpuThread } from "./gpu_service.ts";
import { openDawn } from "./node_gpu.ts";

export interface FaultPlan {
  readonly module: string;
  /** So many requests for an adapter get null. */
  readonly nullAdapters?: number;
  /** The same, after the message "destroy" has destroyed the device. */
  readonly nullAdaptersAfterLoss?: number;
  /** The first device says only after this time that its work is done, as if a kernel ran that long. */
  readonly busyMs?: number;
}

const plan = workerData as FaultPlan;
const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread.");

const gpu = await openDawn(plan.module);
let nulls = plan.nullAdapters ?? 0;
let busyMs = plan.busyMs ?? 0;
let newest: GPUDevice | undefined;

const busyFor = (ms: number) => (): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref());

const faulty = {
  async requestAdapter(options: GPURequestAdapterOptions): Promise<GPUAdapter | null> {
    if (nulls > 0) {
      nulls -= 1;
      return null;
    }
    const adapter = await gpu.requestAdapter(options);
    if (adapter === null) return null;
    const requestDevice = adapter.requestDevice.bind(adapter);
    adapter.requestDevice = async (descriptor) => {
      newest = await requestDevice(descriptor);
      if (busyMs > 0) newest.queue.onSubmittedWorkDone = busyFor(busyMs);
      busyMs = 0;
      return newest;
    };
    return adapter;
  },
} as unknown as GPU;

const service = new GpuService(faulty, (message) => port.postMessage(message));
port.on("message", (message: ToGpuThread | "destroy") => {
  if (message !== "destroy") return service.receive(message);
  nulls = plan.nullAdaptersAfterLoss ?? 0;
  newest?.destroy();
});
