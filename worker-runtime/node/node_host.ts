// Runs `./run python --host node`: the python thread is a worker thread of this process. Node, main thread.

import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { FromGpuThread, ToGpuThread } from "../src/gpu/thread/gpu_messages.ts";
import { GpuThreadOwner, type GpuWorkerEvents } from "../src/gpu/thread/gpu_owner.ts";
import { prepareVulkan } from "../src/gpu/thread/node_gpu.ts";
import { applyHook, type HookTarget } from "../src/python/script/hooks.fixture.ts";
import type { FromScriptThread } from "../src/python/script/run_script.ts";
import { type Options, UsageError } from "./options.ts";
import type { ThreadData } from "./script_thread.ts";

/** The longest time in which a gpu thread may finish its commands. Ctrl-C in this time ends the process at once. */
const CLOSE_MS = 60_000;

/** The pause after the ring is closed. During the pause, Dawn rejects the promises that are still open. */
const SETTLE_MS = 200;

export type Script = Omit<ThreadData, "interrupt" | "hasGpu">;

/** Runs the script and returns its exit code. The first Ctrl-C interrupts Python, the second ends the process. */
export function runInNode(script: Script, backend: Options["backend"]): Promise<number> {
  const interrupt = new SharedArrayBuffer(1);
  const bytes = new Uint8Array(interrupt);
  let asked = false;
  const onInterrupt = () => {
    if (asked) process.exit(130);
    asked = true;
    Atomics.store(bytes, 0, 2);
  };
  process.on("SIGINT", onInterrupt);
  const gpu = backend === "webgpu" ? startGpuThread(script.hasHooks) : null;
  const worker = new Worker(new URL("./script_thread.ts", import.meta.url), {
    workerData: { ...script, interrupt, hasGpu: gpu !== null } satisfies ThreadData,
  });
  return new Promise<number>((done, fail) => {
    worker.on("message", (message: FromScriptThread) => {
      switch (message.kind) {
        case "gpu":
          gpu?.owner.receive(message.message);
          break;
        case "hook":
          if (gpu !== null) applyHook(message.request, gpu);
          break;
        case "ended":
          done(message.code);
          break;
        default:
          message satisfies never;
      }
    });
    worker.once("error", fail);
    worker.once("exit", (code) => done(code === 0 ? 70 : code));
  }).finally(async () => {
    process.off("SIGINT", onInterrupt);
    await worker.terminate();
    if (gpu !== null) await endGpuThread(gpu.owner);
  });
}

/**
 * Dawn aborts the process if its thread ends with an open promise. So this waits until the ring has closed and Dawn has
 * settled its promises.
 */
async function endGpuThread(owner: GpuThreadOwner): Promise<void> {
  await Promise.race([owner.idle(), sleep(CLOSE_MS, undefined, { ref: false })]);
  await sleep(SETTLE_MS);
  await owner.terminate();
}

function startGpuThread(hooks: boolean): HookTarget {
  prepareVulkan();
  const path = hooks
    ? "../src/gpu/testing/gpu_hooks_node.fixture.ts"
    : "../src/gpu/thread/gpu_thread_node.ts";
  const workerData = dawnModule();
  let newest: Worker | undefined;
  const start = (events: GpuWorkerEvents) => {
    const worker = new Worker(new URL(path, import.meta.url), { workerData });
    newest = worker;
    worker.on("message", (message: FromGpuThread) => events.said(message));
    worker.on("error", (error) => console.error(error));
    worker.once("exit", () => events.ended("The gpu thread has ended."));
    return {
      post: (message: ToGpuThread) => worker.postMessage(message),
      terminate: async () => void (await worker.terminate()),
    };
  };
  const owner = new GpuThreadOwner(start, (text) => console.error(text));
  return {
    owner,
    postToGpu: (message) => newest?.postMessage(message),
    endGpu: async () => void (await newest?.terminate()),
  };
}

/** Returns the file of npm's module `webgpu`: the one that ARRAYCORE_WEBGPU names, or else the installed one. */
function dawnModule(): string {
  const named = process.env.ARRAYCORE_WEBGPU;
  if (named !== undefined && named !== "") return named;
  try {
    return createRequire(import.meta.url).resolve("webgpu");
  } catch {
    throw new UsageError(
      "--backend webgpu --host node needs npm's `webgpu`: npm install webgpu@0.6.2",
    );
  }
}
