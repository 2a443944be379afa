// Fetches array-core: the module for this engine and the Python package. It is fetched only if a study asks for a
// device, and once for all python threads. Runs on the agent thread.

import { hasRelaxedSimd } from "../../base/simd.ts";
import type { ArraycoreParts, RuntimeIndex } from "../../python/messages.ts";
import { fetchAll, locate, type RuntimeFetch } from "./runtime_files.ts";

const PIECE = "arraycore";
const ARCHIVE = "arraycore.zip";

export interface PartsOptions extends RuntimeFetch {
  readonly compile: (bytes: Uint8Array<ArrayBuffer>) => Promise<WebAssembly.Module>;
}

/** Returns the file name of the module that this engine can run. */
export function moduleFile(engine: typeof WebAssembly = WebAssembly): string {
  return hasRelaxedSimd(engine) ? "arraycore-relaxed.wasm" : "arraycore.wasm";
}

/**
 * Fetches the parts. Throws RuntimeUnavailableError if the server has no array-core, the connection ends, or the bytes
 * do not have the hash in the index.
 */
export async function fetchArraycore(
  index: RuntimeIndex,
  options: PartsOptions,
): Promise<ArraycoreParts> {
  const files = [moduleFile(), ARCHIVE].map((name) => locate(index, PIECE, name));
  const [code, archive] = fetchAll(files, options) as [
    Promise<Uint8Array<ArrayBuffer>>,
    Promise<Uint8Array<ArrayBuffer>>,
  ];
  const [module, packed] = await Promise.all([code.then(options.compile), archive]);
  return { module, archive: packed };
}
