// Dawn for tests in Node: where its module is, and gpu threads of real worker threads. ARRAYCORE_WEBGPU may name the
// module's file; else the installed package `webgpu` is taken; without either the tests skip and say so. Test thread.

import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { FromGpuThread, ToGpuThread } from "./gpu_service.ts";
import { prepareVulkan } from "./node_gpu.ts";
import { type RingOptions, RingWriter } from "./ring_writer.fixture.ts";

export const dawnModule: string | undefined = findDawn();
if (dawnModule === undefined)
  console.warn("SKIPPED tests on Dawn: npm's `webgpu` is not installed and ARRAYCORE_WEBGPU unset");
prepareVulkan();

function findDawn(): string | undefined {
  const named = process.env.ARRAYCORE_WEBGPU;
  if (named !== undefined && named !== "") return named;
  try {
    return createRequire(import.meta.url).resolve("webgpu");
  } catch {
    return undefined;
  }
}

export interface ThreadOptions extends RingOptions {
  readonly byMessage?: boolean;
  /** Another entry than gpu_thread_node.ts. */
  readonly entry?: string;
  readonly workerData?: unknown;
}

export interface Rig {
  readonly ring: RingWriter;
  readonly worker: Worker;
  readonly errors: string[];
  close(): Promise<void>;
}

export function startThread(options: ThreadOptions = {}): Rig {
  const ring = new RingWriter(options);
  const entry = new URL(options.entry ?? "./gpu_thread_node.ts", import.meta.url);
  const worker = new Worker(entry, { workerData: options.workerData ?? dawnModule });
  const errors: string[] = [];
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  worker.on("message", (message: FromGpuThread) => {
    if (message.kind === "failed") errors.push(message.message);
  });
  worker.on("error", (error) => errors.push(String(error)));
  const post = (message: ToGpuThread) => worker.postMessage(message);
  post({
    kind: "open",
    memory: ring.memory,
    controlAddress: ring.controlAddress,
    ...(options.byMessage === undefined ? {} : { byMessage: options.byMessage }),
  });
  ring.postWake = () => post({ kind: "wake" });
  const close = async () => {
    ring.close();
    const closed = new Promise((resolve) => worker.once("message", resolve));
    // A Dawn thread that is terminated in the middle of its work takes the process with it: let it close.
    await Promise.race([closed, ended, new Promise((resolve) => setTimeout(resolve, 8000))]);
    await worker.terminate();
  };
  return { ring, worker, errors, close };
}
