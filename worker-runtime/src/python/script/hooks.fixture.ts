// The module `_arraycore_hooks` of `./run python --hooks`. Tests use it to make the device fail, and benchmarks to
// measure the device without the ring. The module runs on the python thread, and applyHook on the thread that owns the
// workers. Each wait has a limit. The runtime that volunteers load does not contain this module.

import { type GpuHook, type HookMessage, tellDone } from "../../gpu/testing/gpu_hooks.fixture.ts";
import type { GpuThreadOwner } from "../../gpu/thread/gpu_owner.ts";

export type Hook =
  | { readonly kind: "gpu"; readonly hook: GpuHook }
  /** Ends the gpu thread, as a crash would. */
  | { readonly kind: "end_executor" }
  /** After `afterMs` milliseconds, ends the python thread's wait for the device. */
  | { readonly kind: "interrupt"; readonly how: "once" | "revoke"; readonly afterMs: number };

export interface HookRequest {
  readonly hook: Hook;
  /** One word of shared memory. It becomes 1 when the hook is in effect. */
  readonly done: Int32Array;
}

const ANSWER_MS = 600_000;

/** Returns the module's functions. Each of them blocks until its hook is in effect. */
export function hooksModule(post: (request: HookRequest) => void) {
  const shared = (bytes: number): SharedArrayBuffer => {
    const pages = Math.ceil(bytes / 65_536);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    return memory.buffer as unknown as SharedArrayBuffer;
  };
  const ask = (hook: Hook): void => {
    const done = new Int32Array(shared(4), 0, 1);
    post({ hook, done });
    if (Atomics.wait(done, 0, 0, ANSWER_MS) === "timed-out")
      throw new Error(`Nobody did '${hook.kind}'.`);
  };
  const toGpu = (hook: GpuHook) => ask({ kind: "gpu", hook });
  return {
    refuse_adapters: (count: number) => toGpu({ kind: "refuse_adapters", count }),
    destroy_device: (refuse: number) => toGpu({ kind: "destroy_device", refuse }),
    break_shaders: (count: number) => toGpu({ kind: "break_shaders", count }),
    stall: (ms: number) => toGpu({ kind: "stall", ms }),
    hang: (ms: number) => toGpu({ kind: "hang", ms }),
    end_executor: () => ask({ kind: "end_executor" }),
    revoke: (afterMs: number) => ask({ kind: "interrupt", how: "revoke", afterMs }),
    /** Returns the microseconds of `count` reads without the ring, as "1.5,1.7,..". */
    read_by_hand(count: number): string {
      const times = new Float64Array(shared(count * 8), 0, count);
      toGpu({ kind: "read_by_hand", times });
      return times.join(",");
    },
  };
}

export interface HookTarget {
  readonly owner: GpuThreadOwner;
  readonly postToGpu: (message: HookMessage) => void;
  /** Ends the thread and informs its owner. */
  readonly endGpu: () => Promise<void>;
}

export function applyHook({ hook, done }: HookRequest, target: HookTarget): void {
  switch (hook.kind) {
    case "gpu":
      target.postToGpu({ kind: "hook", hook: hook.hook, done });
      return;
    case "end_executor":
      void target.endGpu().then(() => tellDone(done));
      return;
    case "interrupt":
      setTimeout(() => target.owner.interrupt(hook.how), hook.afterMs);
      tellDone(done);
      return;
    default:
      hook satisfies never;
  }
}
