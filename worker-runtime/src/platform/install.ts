// Adds the functions that this browser lacks (polyfills.ts). Every script that a browser starts imports this file first.
// Any thread.

import { installPolyfills } from "./polyfills.ts";

/** The names of the functions that this browser lacked in this thread. */
export const replaced: readonly string[] = installPolyfills(globalThis);
