// Helper threads of array-core's CPU back end. Each has its own instance of the module on the same memory, and its own stack
// and thread-local storage. The python thread prepares and starts them; serveThread() runs on the helper. Helpers get no
// messages and can use only that memory.

import type { ArraycoreModule } from "./arraycore_module.ts";
import { importsFor } from "./arraycore_module.ts";

/** The data that a thread needs at its start. They can be posted. */
export interface ThreadStart {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Addresses in the memory. The stack grows down from `stackEnd`. */
  readonly stackEnd: number;
  readonly threadLocal: number;
  /** The helper's number in the thread pool, from 1. */
  readonly member: number;
}

/** Starts a thread that calls serveThread(). Resolves when the thread is ready for work. */
export type StartThread = (start: ThreadStart) => Promise<void>;

/** The most threads of ThreadPool (array-core/src/thread_pool/thread_pool.h), the python thread included. */
export const MAX_THREADS = 16;
const STACK_BYTES = 65_536;
const ALIGNMENT = 64;

/** Exports that the linker adds for threads. */
interface ThreadExports {
  readonly __tls_size: WebAssembly.Global<"i32">;
  readonly __stack_pointer: WebAssembly.Global<"i32">;
  readonly __wasm_init_tls: (address: number) => void;
  readonly ac_thread_serve: (member: number) => void;
}

const aligned = (address: number) => Math.ceil(address / ALIGNMENT) * ALIGNMENT;

/** Starts `count` helper threads. Their stacks are never freed. */
export async function startThreads(
  { module, memory, exports }: ArraycoreModule,
  count: number,
  start: StartThread,
): Promise<void> {
  const { __tls_size: size } = exports as unknown as ThreadExports;
  const localBytes = aligned(size.value);
  for (let member = 1; member <= count; member += 1) {
    const place = exports.ac_allocate(localBytes + STACK_BYTES + ALIGNMENT);
    if (place === 0) throw new Error("There is no memory for the stack of a thread.");
    const threadLocal = aligned(place);
    const stackEnd = threadLocal + localBytes + STACK_BYTES;
    await start({ module, memory, stackEnd, threadLocal, member });
  }
}

/** Runs on a helper thread. Calls `onReady`, and then serves until the thread is terminated. */
export async function serveThread(start: ThreadStart, onReady: () => void): Promise<void> {
  const imports = importsFor(start.module, start.memory);
  const instance = await WebAssembly.instantiate(start.module, imports);
  const exports = instance.exports as unknown as ThreadExports;
  exports.__stack_pointer.value = start.stackEnd;
  exports.__wasm_init_tls(start.threadLocal);
  onReady();
  exports.ac_thread_serve(start.member);
}
