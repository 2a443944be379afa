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

/** A pack that a study needs. `version` is missing for a study that was submitted before studies listed their packs. */
export interface WantedPack {
  readonly name: string;
  readonly version?: string;
}

/**
 * Fetches packs with all that they need, each once. The named ones come first.
 *
 * Throws RuntimeUnavailableError: the server has no such pack or another version of it, its packs belong to another
 * Pyodide than `runtime`, or a file cannot be fetched.
 */
export async function fetchPacks(
  packs: readonly WantedPack[],
  runtime: RuntimeIndex,
  index: PackIndex,
  options: RuntimeFetch,
): Promise<PackArchive[]> {
  const pyodide = runtime.pieces.pyodide?.version ?? "none";
  if (index.pyodide !== null && index.pyodide !== pyodide) {
    const message = `This server's packs belong to Pyodide ${index.pyodide}, and the study's runtime has ${pyodide}.`;
    throw new RuntimeUnavailableError("unknown_runtime", message);
  }
  const wanted = withNeeds(packs, index);
  const files = wanted.map(([name]) =>
    locate({ runtime: runtime.runtime, pieces: index.packs }, name, `${name}.zip`),
  );
  const archives = await Promise.all(fetchAll(files, options));
  return wanted.map(([name, { version }], i) => {
    return { name, version, bytes: archives[i] ?? new Uint8Array() };
  });
}

/**
 * Returns the bytes that the network will move for packs with all that they need. A pack that the browser has kept
 * counts nothing.
 *
 * Throws RuntimeUnavailableError: the server has no such pack, or another version of it.
 */
export async function missingBytes(
  packs: readonly WantedPack[],
  index: PackIndex,
  { form, isKept }: { form: "br" | "gz"; isKept: (url: string) => Promise<boolean> },
): Promise<number> {
  const files = withNeeds(packs, index).flatMap(([, pack]) =>
    pack.files.map((file) => ({ url: `${pack.base}${file.name}`, file })),
  );
  const sizes = files.map(async ({ url, file }) =>
    (await isKept(url)) ? 0 : (file[form] ?? file.bytes),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function withNeeds(
  named: readonly WantedPack[],
  { packs }: PackIndex,
): [name: string, pack: Pack][] {
  const wanted = new Map<string, Pack>();
  const waiting = [...named];
  // The list grows while it is read, so that what the code imports comes first.
  for (const { name, version } of waiting) {
    if (wanted.has(name)) continue;
    const pack = Object.hasOwn(packs, name) ? packs[name] : undefined;
    if (pack === undefined) {
      throw new RuntimeUnavailableError("unknown_runtime", `This server has no pack ${name}.`);
    }
    if (version !== undefined && version !== pack.version) {
      const message = `This server has ${name} ${pack.version}, and the study's code was made for ${version}.`;
      throw new RuntimeUnavailableError("unknown_runtime", message);
    }
    wanted.set(name, pack);
    waiting.push(...pack.needs.map((need) => ({ name: need })));
  }
  return [...wanted];
}
