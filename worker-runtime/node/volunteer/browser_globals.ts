// Defines the globals of a browser's worker that the agent and the python thread use, in a thread of Node. Both threads of
// a volunteer use it.

import { totalmem } from "node:os";

const GIB = 1_073_741_824;
/** The largest memory that a browser reports, in GiB. */
const MOST_MEMORY_GIB = 8;

/** Defines a global, even if Node has a getter of this name. */
export function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Makes this thread behave as a worker of an isolated page of `origin` without storage. `request` fetches absolute
 * URLs.
 */
export function actAsBrowser(origin: string, request: Fetch): void {
  define("self", globalThis);
  define("location", new URL(origin));
  define("origin", origin);
  define("isSecureContext", true);
  define("crossOriginIsolated", true);
  // The page's URLs have no host, so `origin` is put before them.
  const resolving: Fetch = (input, init) =>
    request(input instanceof Request ? input : new URL(input, origin), init);
  define("fetch", resolving);
  for (const absent of ["localStorage", "sessionStorage", "caches"]) {
    Reflect.deleteProperty(globalThis, absent);
  }
  // Browsers round the memory to a power of two, so that it reveals little about the machine.
  const gib = Math.min(MOST_MEMORY_GIB, 2 ** Math.floor(Math.log2(Math.max(1, totalmem() / GIB))));
  Object.defineProperty(navigator, "deviceMemory", { value: gib, configurable: true });
}
