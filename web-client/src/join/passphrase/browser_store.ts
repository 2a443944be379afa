// Connects the passphrase's store to the browser. A file of its own, which is fetched when it is needed. Page thread.

import { fetchTogether, joinPassphrase } from "./passphrase_api.ts";
import { type PassphraseEnvironment, PassphraseStore } from "./passphrase_store.ts";

export function passphraseStore(
  storage: PassphraseEnvironment["storage"],
  authorizations: PassphraseEnvironment["authorizations"],
): PassphraseStore {
  return new PassphraseStore({
    storage,
    authorizations,
    fetchTogether: (key) => fetchTogether(key, (path, init) => fetch(path, init)),
    join: (authorization, key, isNew) =>
      joinPassphrase(authorization, key, isNew, (path, init) => fetch(path, init)),
    loadWords: async () => (await import("./word_list.ts")).wordList,
    fillRandom: (numbers) => crypto.getRandomValues(numbers),
  });
}
