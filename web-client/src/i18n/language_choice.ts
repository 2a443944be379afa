// The reader's choice of a language, on a page that fetches some of its texts. Page thread.

import { type Signal, signal } from "@preact/signals";
import type { VolunteerLanguage } from "./language.ts";
import type { PageWords } from "./page_words.ts";

export class LanguageChoice {
  readonly language: Signal<VolunteerLanguage>;
  /** Whether the texts of the newest choice could not be fetched. The page stays in the language before. */
  readonly hasFailed: Signal<boolean> = signal(false);
  readonly #books: readonly PageWords<unknown>[];
  readonly #remember: (language: VolunteerLanguage) => void;
  #wanted: VolunteerLanguage;

  /** The texts in the language `start` must be here. */
  constructor(
    start: VolunteerLanguage,
    books: readonly PageWords<unknown>[],
    remember: (language: VolunteerLanguage) => void,
  ) {
    this.language = signal(start);
    this.#books = books;
    this.#remember = remember;
    this.#wanted = start;
  }

  /** Changes the language, at once if its texts are here. Of several choices, only the last one counts. */
  async choose(language: VolunteerLanguage): Promise<void> {
    this.#wanted = language;
    this.hasFailed.value = false;
    if (!this.#books.every((book) => book.has(language))) {
      const isHere = await loadAll(language, this.#books);
      if (this.#wanted !== language) return;
      this.hasFailed.value = !isHere;
      if (!isHere) return;
    }
    this.language.value = language;
    this.#remember(language);
  }
}

/** Returns the language if all of its texts are here or could be fetched, or else English. */
export async function readableLanguage(
  language: VolunteerLanguage,
  books: readonly PageWords<unknown>[],
): Promise<VolunteerLanguage> {
  return (await loadAll(language, books)) ? language : "en";
}

async function loadAll(
  language: VolunteerLanguage,
  books: readonly PageWords<unknown>[],
): Promise<boolean> {
  const loaded = await Promise.all(books.map((book) => book.load(language)));
  return loaded.every((isHere) => isHere);
}
