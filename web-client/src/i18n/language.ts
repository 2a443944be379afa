// Chooses the page's language: the reader's last choice, else the browser's preference, else English. Page thread. The
// caller passes in the browser's storage and its list of languages.

/** The languages of every page. The name of each is in the language itself. */
export const languageNames = { en: "English", ja: "日本語" } as const;
export type Language = keyof typeof languageNames;

const STORAGE_KEY = "hyperflock.language";

export function isLanguage(value: unknown): value is Language {
  return typeof value === "string" && Object.hasOwn(languageNames, value);
}

/** Returns the first of the browser's languages that the pages have, or else English. `ja-JP` counts as `ja`. */
export function preferredLanguage(browserLanguages: readonly string[]): Language {
  for (const tag of browserLanguages) {
    const base = tag.toLowerCase().split("-")[0];
    if (isLanguage(base)) {
      return base;
    }
  }
  return "en";
}

/** The part of `Storage` that is used here. Every call throws if the browser forbids storage. */
export type KeyValueStore = Pick<Storage, "getItem" | "setItem">;

export function rememberedLanguage(store: KeyValueStore): Language | null {
  try {
    const value = store.getItem(STORAGE_KEY);
    return isLanguage(value) ? value : null;
  } catch {
    return null;
  }
}

export function rememberLanguage(store: KeyValueStore, language: Language): void {
  try {
    store.setItem(STORAGE_KEY, language);
  } catch {
    // Storage is forbidden, so the choice lasts only as long as the page.
  }
}

export function otherLanguage(language: Language): Language {
  return language === "en" ? "ja" : "en";
}
