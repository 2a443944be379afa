// What a bundle says that its code needs beside the runtime: the zip's comment, so that nothing has to be unpacked to know
// (python/src/hyperflock/_bundle/archive.py). Pure; agent thread.

const OPTUNA = new TextEncoder().encode("hyperflock needs optuna");

/** Whether the code imports Optuna: its trials get it, others pay nothing for it. */
export function needsOptuna(bundle: Uint8Array): boolean {
  const from = bundle.length - OPTUNA.length;
  return from >= 0 && OPTUNA.every((byte, i) => bundle[from + i] === byte);
}
