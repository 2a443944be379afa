// Loads arraycore.wasm: makes its shared memory, provides its imports, and returns its exports. The module is standalone and
// needs no script of Emscripten. Runs on any thread that has WebAssembly; the instance belongs to the python thread.

import { guarded } from "./arraycore_guard.ts";

const PAGE_BYTES = 65_536;
const MIB = 1_048_576;
/**
 * The memory size that the module declares (array-core/wasm/CMakeLists.txt). The module does not accept a memory with a
 * smaller initial size or a larger maximum.
 */
const INITIAL_BYTES = 16 * MIB;
/** The maximum sizes to try, in this order, because some phones refuse to reserve much memory. */
const MAXIMA_BYTES = [2048, 1024, 512, 256].map((mib) => mib * MIB);

export class ArraycoreError extends Error {
  override readonly name = "ArraycoreError";
  readonly code: "memory_refused" | "module_mismatch" | "aborted";

  constructor(code: ArraycoreError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The functions of array-core/include/arraycore/arraycore.h; addresses and ids are numbers. */
export interface ArraycoreExports {
  readonly ac_interface_version: () => number;
  readonly ac_open: (backend: number, budgetBytes: number) => number;
  readonly ac_close: () => number;
  readonly ac_reset: () => number;
  readonly ac_error_kind: () => number;
  readonly ac_error_code: () => number;
  readonly ac_error_message: () => number;
  readonly ac_allocate: (bytes: number) => number;
  readonly ac_deallocate: (address: number) => void;
  readonly ac_create: (dtype: number, ndim: number, shape: number, data: number) => number;
  readonly ac_read: (id: number, out: number, bytes: number) => number;
  readonly ac_create_unset: (dtype: number, ndim: number, shape: number) => number;
  readonly ac_packed: (id: number) => number;
  readonly ac_upload: (id: number, offset: number, data: number, bytes: number) => number;
  readonly ac_download: (id: number, offset: number, out: number, bytes: number) => number;
  readonly ac_item: (id: number, out: number) => number;
  readonly ac_describe: (id: number, out: number) => number;
  readonly ac_free: (count: number, ids: number) => number;
  readonly ac_set_promotion: (mode: number) => number;
  readonly ac_ufunc_number: (name: number) => number;
  readonly ac_unary: (ufunc: number, a: number, freedA: number, freedB: number) => number;
  readonly ac_binary: (
    ufunc: number,
    a: number,
    b: number,
    freedA: number,
    freedB: number,
  ) => number;
  readonly ac_binary_scalar: (
    ufunc: number,
    a: number,
    value: number,
    kind: number,
    left: number,
    freedA: number,
    freedB: number,
  ) => number;
  readonly ac_call: (
    operation: number,
    words: number,
    count: number,
    freedA: number,
    freedB: number,
  ) => number;
  readonly ac_kernel: (kind: number, texts: number, bytes: number) => number;
  readonly ac_device_text: () => number;
  readonly ac_profile_text: () => number;
  readonly ac_counter: (name: number) => number;
}

const INTERFACE_VERSION = 2;

export interface ArraycoreModule {
  /** The compiled module, from which helper threads make instances on the same memory. */
  readonly module: WebAssembly.Module;
  readonly exports: ArraycoreExports;
  readonly memory: WebAssembly.Memory;
}

/** The functions by which array-core reaches the gpu thread and notices an interrupt. */
export interface ModuleHost {
  /** Sends the gpu thread the address of the ring's control block. Returns false without a gpu thread. */
  attach(memory: WebAssembly.Memory, controlAddress: number): boolean;
  /** Wakes a gpu thread that cannot sleep on a word. */
  wakeByMessage(): void;
  /** Returns whether Python was asked to stop, and clears the request. The wait then raises. */
  takeInterrupt(): boolean;
}

const NO_HOST: ModuleHost = {
  attach: () => false,
  wakeByMessage: () => {},
  takeInterrupt: () => false,
};

export interface ModuleOptions {
  readonly host?: ModuleHost;
  /** The largest size of the memory in bytes, for example a phone's limit. */
  readonly maximumBytes?: number;
  /** Receives the last message of the module's C library, such as a failed assertion. */
  readonly print?: (text: string) => void;
  /** Called once, if a call throws. The module runs nothing more then. */
  readonly ended?: () => void;
}

export async function loadArraycore(
  code: BufferSource | Response | Promise<Response> | WebAssembly.Module,
  options: ModuleOptions = {},
): Promise<ArraycoreModule> {
  const module = await compiled(code);
  const memory = createMemory(options.maximumBytes);
  const imports = importsFor(module, memory, options.host, options.print);
  const instance = await WebAssembly.instantiate(module, imports);
  const exports = instance.exports as unknown as ArraycoreExports & { _initialize(): void };
  exports._initialize();
  if (exports.ac_interface_version() !== INTERFACE_VERSION) {
    throw new ArraycoreError(
      "module_mismatch",
      `arraycore.wasm has interface ${exports.ac_interface_version()}, this loader is for ${INTERFACE_VERSION}.`,
    );
  }
  return { module, exports: guarded(exports, endedBy, options.ended), memory };
}

function endedBy(cause: unknown): ArraycoreError {
  return new ArraycoreError("aborted", `array-core has ended: ${cause}`, { cause });
}

async function compiled(
  code: BufferSource | Response | Promise<Response> | WebAssembly.Module,
): Promise<WebAssembly.Module> {
  if (code instanceof WebAssembly.Module) return code;
  return code instanceof ArrayBuffer || ArrayBuffer.isView(code)
    ? await WebAssembly.compile(code)
    : await WebAssembly.compileStreaming(code);
}

/** Makes the largest shared memory that this engine allows. */
export function createMemory(maximumBytes = Number.POSITIVE_INFINITY): WebAssembly.Memory {
  const maxima = MAXIMA_BYTES.filter((bytes) => bytes <= maximumBytes);
  if (maxima[0] !== maximumBytes && Number.isFinite(maximumBytes)) maxima.unshift(maximumBytes);
  let reason = "";
  for (const bytes of maxima) {
    if (bytes < INITIAL_BYTES || bytes > (MAXIMA_BYTES[0] ?? 0)) continue;
    try {
      return new WebAssembly.Memory({
        initial: INITIAL_BYTES / PAGE_BYTES,
        maximum: Math.floor(bytes / PAGE_BYTES),
        shared: true,
      });
    } catch (error) {
      reason = String(error);
    }
  }
  throw new ArraycoreError(
    "memory_refused",
    `There is no shared memory of ${INITIAL_BYTES / MIB} MiB and more to be had here. ${reason}`.trim(),
  );
}

/** Returns a copy of a zero-terminated UTF-8 text. It decodes a copy, because decoders refuse views of shared memory. */
export function textAt(memory: WebAssembly.Memory, address: number): string {
  const bytes = new Uint8Array(memory.buffer);
  return new TextDecoder().decode(bytes.slice(address, bytes.indexOf(0, address)));
}

type HostFunction = (...args: never[]) => unknown;

// Returns exactly the imports that the module has. Its C library imports some functions that it never calls, because it
// starts no thread. They throw an error with their name, so that a new use is noticed.
export function importsFor(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  host: ModuleHost = NO_HOST,
  print: (text: string) => void = console.error,
): WebAssembly.Imports {
  const known: Readonly<Record<string, HostFunction>> = {
    ...ringFunctions(memory, host),
    ...systemFunctions(memory, print),
  };
  const imports: Record<string, WebAssembly.ModuleImports> = {};
  for (const { module: space, name, kind } of WebAssembly.Module.imports(module)) {
    imports[space] ??= {};
    imports[space][name] =
      kind === "memory"
        ? memory
        : (known[name] ??
          (() => {
            throw new ArraycoreError("aborted", `array-core called ${name}, which is not there.`);
          }));
  }
  return imports;
}

/** The values of ring::WaitResult (array-core/src/ring/host.h). */
const WaitResult = { woken: 0, timedOut: 1, interrupted: 2 } as const;

function ringFunctions(
  memory: WebAssembly.Memory,
  host: ModuleHost,
): Readonly<Record<string, HostFunction>> {
  // When the memory grows, this view stays valid for the addresses that it covers.
  let words = new Int32Array(memory.buffer);
  return {
    ac_host_attach: (control: number): number => (host.attach(memory, control) ? 1 : 0),
    ac_host_message: () => host.wakeByMessage(),
    ac_host_wait: (address: number, expected: number, timeoutMs: number): number => {
      if (host.takeInterrupt()) return WaitResult.interrupted;
      if (address / 4 >= words.length) words = new Int32Array(memory.buffer);
      const index = address / 4;
      if (hasChanged(words, index, expected | 0, LOOK_MS)) return WaitResult.woken;
      const end = Atomics.wait(words, index, expected | 0, timeoutMs);
      // The executor may wake the issuer shortly before it changes the word. So after a wake-up the issuer polls the
      // word for a little longer.
      if (end === "ok") hasChanged(words, index, expected | 0, ROUSED_LOOK_MS);
      if (host.takeInterrupt()) return WaitResult.interrupted;
      return end === "timed-out" ? WaitResult.timedOut : WaitResult.woken;
    },
  };
}

/**
 * The time in ms for which an issuer polls first, because a wake-up usually takes longer than the answer. It polls only
 * if the machine has at least 4 processors.
 */
const LOOK_MS = (globalThis.navigator?.hardwareConcurrency ?? 1) >= 4 ? 0.05 : 0;
/** The time in ms for which an issuer polls if it was woken in advance (see rouse in gpu/ring/control.ts). */
const ROUSED_LOOK_MS = 0.1;
const LOOKS_BETWEEN_CLOCKS = 50;

/** Polls a word for `forMs` milliseconds. Returns whether it differs from `value`. */
function hasChanged(words: Int32Array, index: number, value: number, forMs: number): boolean {
  if (Atomics.load(words, index) !== value) return true;
  if (forMs === 0) return false;
  const end = performance.now() + forMs;
  do {
    for (let i = 0; i < LOOKS_BETWEEN_CLOCKS; i += 1)
      if (Atomics.load(words, index) !== value) return true;
  } while (performance.now() < end);
  return false;
}

function systemFunctions(
  memory: WebAssembly.Memory,
  print: (text: string) => void,
): Readonly<Record<string, HostFunction>> {
  const nothing = () => {};
  return {
    // Nothing has to be done when the memory grows, because views are new for each use.
    emscripten_notify_memory_growth: nothing,
    // The instance's only thread needs no preparation. It may block, because it is a worker.
    _emscripten_init_main_thread_js: nothing,
    _emscripten_thread_mailbox_await: nothing,
    emscripten_check_blocking_allowed: nothing,
    clock_time_get: (_clock: number, _precision: bigint, out: number): number => {
      const nanoseconds = BigInt(Math.round(performance.now() * 1e6));
      new DataView(memory.buffer).setBigUint64(out, nanoseconds, true);
      return 0;
    },
    fd_write: (_file: number, vectors: number, count: number, written: number): number => {
      const view = new DataView(memory.buffer);
      const bytes: number[] = [];
      for (let i = 0; i < count; i += 1) {
        const address = view.getUint32(vectors + 8 * i, true);
        const length = view.getUint32(vectors + 8 * i + 4, true);
        bytes.push(...new Uint8Array(memory.buffer, address, length));
      }
      view.setUint32(written, bytes.length, true);
      print(new TextDecoder().decode(Uint8Array.from(bytes)).trimEnd());
      return 0;
    },
    proc_exit: (status: number): never => {
      throw new ArraycoreError("aborted", `array-core ended itself with status ${status}.`);
    },
  };
}
