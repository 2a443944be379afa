// Reads which packages a bundle's code needs in addition to the runtime. The zip's comment names them, so that nothing
// has to be unpacked (python/src/hyperflock/_bundle/archive.py). Pure; agent thread.

const OPTUNA = new TextEncoder().encode("hyperflock needs optuna");

/** Returns whether the code imports Optuna. Optuna is downloaded only for trials with such code. */
export function needsOptuna(bundle: Uint8Array): boolean {
  const from = bundle.length - OPTUNA.length;
  return from >= 0 && OPTUNA.every((byte, i) => bundle[from + i] === byte);
}
