// The passphrase part for tests of other parts: its server counts what the test gives, and knows one key.

import type { Together } from "./passphrase_api.ts";
import { PassphrasePart } from "./passphrase_part.ts";
import { PassphraseStore } from "./passphrase_store.ts";

/** `together`: what the passphrase's devices gave; null for a browser without a passphrase. */
export function passphrasePart(together: Together | null = null): PassphrasePart {
  const unreachable = { kind: "problem", problem: "unreachable" } as const;
  const kept = { key: "7".repeat(64), devices: [] };
  const storage = {
    getItem: () => (together === null ? null : JSON.stringify(kept)),
    setItem: () => {},
    removeItem: () => {},
  };
  const store = new PassphraseStore({
    storage,
    authorizations: async () => [],
    fetchTogether: async () =>
      together === null ? unreachable : { kind: "answer", answer: together },
    join: async () => unreachable,
    loadWords: async () => [],
    fillRandom: () => {},
  });
  return new PassphrasePart(storage, async () => store);
}
