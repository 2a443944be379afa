// Which language the page speaks: the reader's last choice, else the browser's preference, else English.
// Page thread; the environment is passed in.

/** Each language that every page speaks, by its own name. */
export const languageNames = { en: "English", ja: "日本語" } as const;
export type Language = keyof typeof languageNames;

const STORAGE_KEY = "hyperflock.language";

export function isLanguage(value: unknown): value is Language {
  return typeof value === "string" && Object.hasOwn(languageNames, value);
}

/** The first of the browser's languages that we speak; `ja-JP` counts as `ja`. */
export function preferredLanguage(browserLanguages: readonly string[]): Language {
  for (const tag of browserLanguages) {
    const base = tag.toLowerCase().split("-")[0];
    if (isLanguage(base)) {
      return base;
    }
  }
  return "en";
}

/** The part of `Storage` that we use. Browsers may forbid storage: then every call throws. */
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
    // The choice then lasts as long as the page.
  }
}

export function otherLanguage(language: Language): Language {
  return language === "en" ? "ja" : "en";
}
