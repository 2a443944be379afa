// Starts gpu threads with Dawn in Node's worker threads, for tests. ARRAYCORE_WEBGPU may name the file of Dawn's module.
// Otherwise the package `webgpu` must be installed. Test thread.

import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { LIMIT_MS } from "../../../node/patience.ts";
import type { FromGpuThread } from "../thread/gpu_messages.ts";
import { prepareVulkan } from "../thread/node_gpu.ts";
import type { GpuHook, ToHookedThread } from "./gpu_hooks.fixture.ts";
import { type RingOptions, RingWriter } from "./ring_writer.fixture.ts";

const named = process.env.ARRAYCORE_WEBGPU ?? "";
export const dawnModule = named !== "" ? named : createRequire(import.meta.url).resolve("webgpu");
prepareVulkan();

export interface ThreadOptions extends RingOptions {
  readonly byMessage?: boolean;
  /** The hooks that are active from the start. An empty list lets a test add hooks later. */
  readonly hooks?: readonly GpuHook[];
}

export interface Rig {
  readonly ring: RingWriter;
  readonly worker: Worker;
  readonly errors: string[];
  apply(hook: GpuHook): void;
  close(): Promise<void>;
}

export function startThread(options: ThreadOptions = {}): Rig {
  const ring = new RingWriter(options);
  const { hooks } = options;
  const entry =
    hooks === undefined ? "../thread/gpu_thread_node.ts" : "./gpu_hooks_node.fixture.ts";
  const worker = new Worker(new URL(entry, import.meta.url), { workerData: dawnModule });
  const errors: string[] = [];
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  worker.on("message", (message: FromGpuThread) => {
    if (message.kind === "failed") errors.push(message.message);
  });
  worker.on("error", (error) => errors.push(String(error)));
  const post = (message: ToHookedThread) => worker.postMessage(message);
  for (const hook of hooks ?? []) post({ kind: "hook", hook });
  post({
    kind: "open",
    memory: ring.memory,
    controlAddress: ring.controlAddress,
    ...(options.byMessage === undefined ? {} : { byMessage: options.byMessage }),
  });
  const apply = (hook: GpuHook) => post({ kind: "hook", hook });
  ring.postWake = () => post({ kind: "wake" });
  const close = async () => {
    ring.close();
    const closed = new Promise((resolve) => worker.once("message", resolve));
    // If a thread with Dawn is terminated while it works, the process crashes. So the thread closes by itself.
    await Promise.race([closed, ended, new Promise((resolve) => setTimeout(resolve, LIMIT_MS))]);
    await worker.terminate();
  };
  return { ring, worker, errors, apply, close };
}
