// Dawn for tests in Node: where its module is, and gpu threads of real worker threads. ARRAYCORE_WEBGPU may name the
// module's file; else the installed package `webgpu` is taken, and must be there. Test thread.

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
  /** What is to go wrong from the beginning; [] for a thread that takes hooks later. */
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
    // A Dawn thread that is terminated in the middle of its work takes the process with it: let it close.
    await Promise.race([closed, ended, new Promise((resolve) => setTimeout(resolve, LIMIT_MS))]);
    await worker.terminate();
  };
  return { ring, worker, errors, apply, close };
}
