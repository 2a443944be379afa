// Starts a gpu thread as a worker of the calling agent thread. The gpu thread communicates with the python thread
// through array-core's shared memory. Only the few messages of gpu_messages.ts pass through its owner.

import type { FromGpuThread } from "../../gpu/thread/gpu_messages.ts";
import type { GpuWorker, GpuWorkerEvents } from "../../gpu/thread/gpu_owner.ts";

export function spawnGpu(events: GpuWorkerEvents): GpuWorker {
  // The server recognises this script by its name and sends it with its own Content-Security-Policy.
  const worker = new Worker(new URL("../../gpu/thread/gpu-thread.ts", import.meta.url), {
    type: "module",
    name: "hyperflock gpu",
  });
  worker.addEventListener("message", (event: MessageEvent<FromGpuThread>) =>
    events.said(event.data),
  );
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    events.ended(event.message || "The gpu thread's script cannot be loaded.");
  });
  return {
    post: (message) => worker.postMessage(message),
    terminate: async () => worker.terminate(),
  };
}
