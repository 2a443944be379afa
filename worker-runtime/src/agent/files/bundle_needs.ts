// Reads which packages a bundle's code needs in addition to the runtime. The zip's comment names them, so that nothing
// has to be unpacked (python/src/hyperflock/_bundle/archive.py). Pure; agent thread.

/** The longest comment that a bundle may have. */
const MOST_BYTES = 4096;
const COMMENT = /hyperflock needs ([a-z0-9][a-z0-9.-]*(?: [a-z0-9][a-z0-9.-]*)*)$/;

/** What a bundle's code needs. */
export interface BundleNeeds {
  /** Whether the code imports Optuna. Optuna is downloaded only for trials with such code. */
  readonly optuna: boolean;
  /** The names of packs, such as `scikit-learn`, without those that they need themselves. */
  readonly packs: readonly string[];
}

export function needsOf(bundle: Uint8Array): BundleNeeds {
  const end = new TextDecoder("latin1").decode(bundle.subarray(-MOST_BYTES));
  const names = COMMENT.exec(end)?.[1]?.split(" ") ?? [];
  return { optuna: names.includes("optuna"), packs: names.filter((name) => name !== "optuna") };
}
