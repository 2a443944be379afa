// Gives a thread of Node the names of a browser's worker that the agent and the python thread use. Node, both threads of a
// volunteer.

import { totalmem } from "node:os";

const GIB = 1_073_741_824;
/** Browsers report at most this much memory. */
const MOST_MEMORY_GIB = 8;

/** Defines a global name, also where Node has a getter of this name. */
export function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Makes this thread behave as a worker of a page of `origin` that is isolated and has no storage. `request` fetches whole
 * addresses.
 */
export function actAsBrowser(origin: string, request: Fetch): void {
  define("self", globalThis);
  define("location", new URL(origin));
  define("origin", origin);
  define("isSecureContext", true);
  define("crossOriginIsolated", true);
  // The page's addresses have no host.
  const resolving: Fetch = (input, init) =>
    request(input instanceof Request ? input : new URL(input, origin), init);
  define("fetch", resolving);
  for (const absent of ["localStorage", "sessionStorage", "caches"]) {
    Reflect.deleteProperty(globalThis, absent);
  }
  // Browsers round the memory to a power of two, so that it tells little about the machine.
  const gib = Math.min(MOST_MEMORY_GIB, 2 ** Math.floor(Math.log2(Math.max(1, totalmem() / GIB))));
  Object.defineProperty(navigator, "deviceMemory", { value: gib, configurable: true });
}
