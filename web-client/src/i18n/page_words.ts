// The texts of one page. Some languages are part of the page's script. Each other one is a file of its own, so that
// nobody fetches a language that is not read. Page thread.

import type { Language, VolunteerLanguage } from "./language.ts";

/** `Here`: the languages that are part of the page's script. */
export class PageWords<Words, Here extends VolunteerLanguage = Language> {
  readonly #here: Map<VolunteerLanguage, Words>;
  readonly #fetches: Readonly<Partial<Record<VolunteerLanguage, () => Promise<Words>>>>;

  constructor(
    here: Readonly<Record<Here, Words>>,
    fetches: Readonly<Record<Exclude<VolunteerLanguage, Here>, () => Promise<Words>>>,
  ) {
    this.#here = new Map(Object.entries(here) as [Here, Words][]);
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
    const fetchWords = this.#fetches[language];
    if (fetchWords === undefined) return false;
    try {
      this.#here.set(language, await fetchWords());
      return true;
    } catch {
      return false;
    }
  }
}
