// The part of the page about the passphrase. Its code is fetched when it is opened, or at once if this browser has a
// passphrase. Page thread.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Together } from "./passphrase_api.ts";
import type { PassphraseStore } from "./passphrase_store.ts";

export const PASSPHRASE_KEY = "hyperflock.passphrase";

export class PassphrasePart {
  readonly #storage: Pick<Storage, "getItem" | "removeItem">;
  readonly #fetchStore: () => Promise<PassphraseStore>;
  readonly #store: Signal<PassphraseStore | null> = signal(null);
  #loading: Promise<PassphraseStore | null> | null = null;

  /** What the devices of the passphrase gave; null without a passphrase, or until the server has answered. */
  readonly together: ReadonlySignal<Together | null>;

  constructor(
    storage: Pick<Storage, "getItem" | "removeItem">,
    fetchStore: () => Promise<PassphraseStore>,
  ) {
    this.#storage = storage;
    this.#fetchStore = fetchStore;
    this.together = computed(() => this.#store.value?.together.value ?? null);
  }

  /** null until it was fetched. */
  get store(): ReadonlySignal<PassphraseStore | null> {
    return this.#store;
  }

  /** Fetches the store. Returns null if that fails; then the next call tries again. */
  load(): Promise<PassphraseStore | null> {
    this.#loading ??= this.#fetchStore().then(
      (store) => {
        this.#store.value = store;
        return store;
      },
      () => {
        this.#loading = null;
        return null;
      },
    );
    return this.#loading;
  }

  /** Gives the passphrase, if there is one, to a device that has joined. */
  async link(authorization: string): Promise<void> {
    if (this.#isUsed()) await (await this.load())?.link(authorization);
  }

  /** Asks what the devices of the passphrase gave, if there is one. */
  async refresh(): Promise<void> {
    if (this.#isUsed()) await (await this.load())?.refresh();
  }

  /** Forgets the passphrase in this browser. */
  forget(): void {
    this.#store.value?.forget();
    try {
      this.#storage.removeItem(PASSPHRASE_KEY);
    } catch {
      // Storage is forbidden, so nothing was kept.
    }
  }

  #isUsed(): boolean {
    if (this.#store.value !== null) return true;
    try {
      return this.#storage.getItem(PASSPHRASE_KEY) !== null;
    } catch {
      return false;
    }
  }
}
