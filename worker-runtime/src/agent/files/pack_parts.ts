// Fetches packs: packages such as scikit-learn, which only some studies need. Runs on the agent thread.

import type { Pack, PackIndex, RuntimeIndex } from "../../python/messages.ts";
import { fetchAll, locate, type RuntimeFetch, RuntimeUnavailableError } from "./runtime_files.ts";

/** The package of a pack. */
export interface PackArchive {
  readonly name: string;
  readonly version: string;
  /** A zip of compiled files. It is unpacked next to the other packages. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Fetches packs with all that they need, each once. The named ones come first.
 *
 * Throws RuntimeUnavailableError: the server has no such pack, its packs belong to another Pyodide than `runtime`, or a
 * file cannot be fetched.
 */
export async function fetchPacks(
  names: readonly string[],
  runtime: RuntimeIndex,
  index: PackIndex,
  options: RuntimeFetch,
): Promise<PackArchive[]> {
  const pyodide = runtime.pieces.pyodide?.version ?? "none";
  if (index.pyodide !== null && index.pyodide !== pyodide) {
    const message = `This server's packs belong to Pyodide ${index.pyodide}, and the study's runtime has ${pyodide}.`;
    throw new RuntimeUnavailableError("unknown_runtime", message);
  }
  const wanted = withNeeds(names, index);
  const files = wanted.map(([name]) =>
    locate({ runtime: runtime.runtime, pieces: index.packs }, name, `${name}.zip`),
  );
  const archives = await Promise.all(fetchAll(files, options));
  return wanted.map(([name, { version }], i) => {
    return { name, version, bytes: archives[i] ?? new Uint8Array() };
  });
}

function withNeeds(names: readonly string[], { packs }: PackIndex): [name: string, pack: Pack][] {
  const wanted = new Map<string, Pack>();
  const waiting = [...names];
  // The list grows while it is read, so that what the code imports comes first.
  for (const name of waiting) {
    if (wanted.has(name)) continue;
    const pack = Object.hasOwn(packs, name) ? packs[name] : undefined;
    if (pack === undefined) {
      throw new RuntimeUnavailableError("unknown_runtime", `This server has no pack ${name}.`);
    }
    wanted.set(name, pack);
    waiting.push(...pack.needs);
  }
  return [...wanted];
}
