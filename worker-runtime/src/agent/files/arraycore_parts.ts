// Fetches array-core: the module for this engine, and the Python package. Only for a study that asks for a device, so that
// others pay nothing for it; once, whatever number of python threads gets it. Runs on the agent thread.

import { hasRelaxedSimd } from "../../base/simd.ts";
import type { ArraycoreParts, RuntimeIndex } from "../../python/messages.ts";
import { fetchAll, locate, type RuntimeFetch } from "./runtime_files.ts";

const PIECE = "arraycore";
const ARCHIVE = "arraycore.zip";

export interface PartsOptions extends RuntimeFetch {
  readonly compile: (bytes: Uint8Array<ArrayBuffer>) => Promise<WebAssembly.Module>;
}

/** Which of the module's files this engine runs. */
export function moduleFile(engine: typeof WebAssembly = WebAssembly): string {
  return hasRelaxedSimd(engine) ? "arraycore-relaxed.wasm" : "arraycore.wasm";
}

/**
 * Throws RuntimeUnavailableError where this server's runtime has none, the connection breaks off, or bytes are not
 * those of the index.
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
