// The texts about passphrases. Each language is a file of its own, which a page fetches when that part is opened. Page
// thread; pure data.

import type { EntryProblem } from "../../join/passphrase/passphrase_store.ts";
import type { VolunteerLanguage } from "../language.ts";

type Plain = Exclude<EntryProblem["kind"], "unknown_word" | "count">;

export interface PassphraseWords {
  readonly text: string;
  /** Said instead, if this browser's devices have a passphrase. */
  readonly kept: (count: number, formatted: string) => string;
  readonly make: string;
  /** The same button, if there is a passphrase already. */
  readonly makeNew: string;
  readonly makeNewHint: string;
  readonly restore: string;
  readonly working: string;
  readonly words: string;
  /** Says that the words are shown once. */
  readonly once: string;
  readonly copy: string;
  readonly copied: string;
  readonly copyByHand: string;
  readonly done: string;
  readonly entry: string;
  readonly entryHint: string;
  readonly confirm: string;
  readonly cancel: string;
  readonly problems: Readonly<Record<Plain, string>>;
  readonly unknownWord: (word: string) => string;
  /** `count`: so many words were entered. `needed`: so many are needed. */
  readonly count: (count: string, needed: string) => string;
}

/** Fetches the texts. Rejects if that fails. */
export const fetchPassphraseWords: Readonly<
  Record<VolunteerLanguage, () => Promise<PassphraseWords>>
> = {
  en: async () => (await import("./en.ts")).enPassphrase,
  es: async () => (await import("./es.ts")).esPassphrase,
  ja: async () => (await import("./ja.ts")).jaPassphrase,
  zh: async () => (await import("./zh.ts")).zhPassphrase,
};
