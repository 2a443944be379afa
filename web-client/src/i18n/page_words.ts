// The texts of one page. English and Japanese are part of the page's script. Each other language is a file of its own,
// so that nobody fetches a language that is not read. Page thread.

import type { FetchedLanguage, Language, VolunteerLanguage } from "./language.ts";

export class PageWords<Words> {
  readonly #here: Map<VolunteerLanguage, Words>;
  readonly #fetches: Readonly<Record<FetchedLanguage, () => Promise<Words>>>;

  constructor(
    here: Readonly<Record<Language, Words>>,
    fetches: Readonly<Record<FetchedLanguage, () => Promise<Words>>>,
  ) {
    this.#here = new Map(Object.entries(here) as [Language, Words][]);
    this.#fetches = fetches;
  }

  has(language: VolunteerLanguage): boolean {
    return this.#here.has(language);
  }

  /** Returns the texts. Throws if they were not fetched yet. */
  of(language: VolunteerLanguage): Words {
    const words = this.#here.get(language);
    if (words === undefined) throw new Error(`The texts in ${language} were not fetched.`);
    return words;
  }

  /** Fetches the texts if they are not here. Returns false if they could not be fetched. */
  async load(language: VolunteerLanguage): Promise<boolean> {
    if (this.has(language)) return true;
    try {
      this.#here.set(language, await this.#fetches[language as FetchedLanguage]());
      return true;
    } catch {
      return false;
    }
  }
}
