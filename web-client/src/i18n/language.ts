// Chooses the page's language: the reader's last choice, else the browser's preference, else English. Page thread. The
// caller passes in the browser's storage and its list of languages.

/** The languages of every page. The name of each is in the language itself. */
export const languageNames = { en: "English", ja: "日本語" } as const;
export type Language = keyof typeof languageNames;

/** The languages of the pages that volunteers open, in the order of the list on the page. */
export const volunteerLanguageNames = {
  en: languageNames.en,
  es: "Español",
  ja: languageNames.ja,
  zh: "简体中文",
} as const;
export type VolunteerLanguage = keyof typeof volunteerLanguageNames;

const STORAGE_KEY = "hyperflock.language";
const TRADITIONAL_CHINESE = /^zh(-hant\b|-(tw|hk|mo)\b)/i;

/** The names of a page's languages. English is always one of them. */
export type Names<Name extends string> = Readonly<Record<Name | "en", string>>;

export function isLanguage<Name extends string>(
  value: unknown,
  names: Names<Name>,
): value is Name | "en" {
  return typeof value === "string" && Object.hasOwn(names, value);
}

/**
 * Returns the first of the browser's languages that the page has, or else English. `ja-JP` counts as `ja`. Traditional
 * Chinese does not count as `zh`, which is Simplified Chinese here.
 */
export function preferredLanguage<Name extends string>(
  browserLanguages: readonly string[],
  names: Names<Name>,
): Name | "en" {
  for (const tag of browserLanguages) {
    const base = tag.toLowerCase().split("-")[0];
    if (isLanguage(base, names) && !TRADITIONAL_CHINESE.test(tag)) {
      return base;
    }
  }
  return "en";
}

/** The part of `Storage` that is used here. Every call throws if the browser forbids storage. */
export type KeyValueStore = Pick<Storage, "getItem" | "setItem">;

export function rememberedLanguage<Name extends string>(
  store: KeyValueStore,
  names: Names<Name>,
): Name | "en" | null {
  try {
    const value = store.getItem(STORAGE_KEY);
    return isLanguage(value, names) ? value : null;
  } catch {
    return null;
  }
}

export function rememberLanguage(store: KeyValueStore, language: VolunteerLanguage): void {
  try {
    store.setItem(STORAGE_KEY, language);
  } catch {
    // Storage is forbidden, so the choice lasts only as long as the page.
  }
}

export function otherLanguage(language: Language): Language {
  return language === "en" ? "ja" : "en";
}
