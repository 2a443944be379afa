// Fetches Optuna and its dependencies, only for trials of an Optuna study and for code that imports it. Runs on the agent
// thread.

import type { RuntimeIndex } from "../../python/messages.ts";
import { fetchAll, locate, type RuntimeFetch } from "./runtime_files.ts";

const PIECES = ["packaging", "colorlog", "tqdm", "optuna"];

/** Returns zips of compiled files. They are unpacked next to the other packages. Throws RuntimeUnavailableError. */
export async function fetchOptuna(
  index: RuntimeIndex,
  options: RuntimeFetch,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const files = PIECES.map((piece) => locate(index, piece, `${piece}.zip`));
  return await Promise.all(fetchAll(files, options));
}
