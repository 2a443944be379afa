// Checks whether this browser can compute. It tries each feature and does not read the browser's name. The page checks
// itself before the tap, and the agent's thread checks itself after it, because threads may have less than the page. The
// table of all features is platform/features.fixture.ts.

import { hasSimd, type Validator } from "../base/simd.ts";
import { missingOf, type RequiredScope } from "../platform/required.ts";
import type { UnsupportedReason } from "./volunteer_state.ts";

/** The parts of the global scope that the checks read. */
export interface ProbeScope extends RequiredScope {
  readonly isSecureContext: boolean;
  readonly crossOriginIsolated: boolean;
  readonly Worker?: unknown;
  readonly MessageChannel?: new () => {
    readonly port1: { postMessage(message: unknown): void; close(): void };
  };
  readonly WebAssembly?: Validator & {
    /** A constructor that only browsers with JSPI have. */
    readonly Suspending?: unknown;
    readonly promising?: unknown;
    Memory: new (descriptor: {
      initial: number;
      maximum: number;
      shared: boolean;
    }) => { readonly buffer: unknown };
  };
}

/** Returns the reason why this page cannot compute, or null if it can. */
export function probe(scope: ProbeScope): UnsupportedReason | null {
  return probeAny(scope, hasModuleWorkers);
}

/** Returns the reason why this thread cannot compute, or null if it can. A thread starts threads, too. */
export function probeThread(scope: ProbeScope): UnsupportedReason | null {
  return probeAny(scope, ({ Worker: threads }) => typeof threads === "function");
}

function probeAny(
  scope: ProbeScope,
  hasWorkers: (scope: ProbeScope) => boolean,
): UnsupportedReason | null {
  if (!scope.isSecureContext) return "insecure_context";
  const [missing] = missingOf(scope);
  // Without WebAssembly nothing else can be examined.
  if (missing === "no_webassembly") return missing;
  // If threads cannot share memory, Python can wait only if the browser has JSPI.
  if (!sharesMemory(scope) && !hasJspi(scope)) {
    return scope.crossOriginIsolated ? "no_shared_memory" : "not_isolated";
  }
  if (!hasWorkers(scope)) return "no_module_workers";
  if (!hasSimd(scope.WebAssembly)) return "no_wasm_simd";
  return missing ?? null;
}

/** Whether WebAssembly can be suspended until a promise is settled (JSPI). */
export function hasJspi(scope: ProbeScope): boolean {
  const { Suspending, promising } = scope.WebAssembly ?? {};
  return typeof Suspending === "function" && typeof promising === "function";
}

function hasModuleWorkers(scope: ProbeScope): boolean {
  if (typeof scope.Worker !== "function") return false;
  let asked = false;
  const options = {
    // If the browser supports module workers, the constructor of Worker reads `type` before it rejects the invalid URL.
    get type(): string {
      asked = true;
      return "module";
    },
  };
  try {
    const Constructor = scope.Worker as new (url: string, options: object) => { terminate(): void };
    new Constructor("http://[", options).terminate();
  } catch {
    // The constructor's error does not matter. Only whether it read `type` matters.
  }
  return asked;
}

/** Whether the threads of this page can share memory. */
export function sharesMemory(scope: ProbeScope): boolean {
  if (!scope.crossOriginIsolated) return false;
  try {
    const memory = new (scope.WebAssembly as NonNullable<ProbeScope["WebAssembly"]>).Memory({
      initial: 1,
      maximum: 1,
      shared: true,
    });
    if (Object.prototype.toString.call(memory.buffer) !== "[object SharedArrayBuffer]")
      return false;
    // WebKitGTK can make such memory, but cannot send it to another thread.
    const { port1 } = new (scope.MessageChannel as NonNullable<ProbeScope["MessageChannel"]>)();
    port1.postMessage(memory.buffer);
    port1.close();
    return true;
  } catch {
    return false;
  }
}
