// The texts of the join page in each language. Page thread.

import type { Dictionary } from "./dictionary.ts";
import { en } from "./en.ts";
import { PageWords } from "./page_words.ts";

export const dictionaries = new PageWords<Dictionary, "en">(
  { en },
  {
    ja: async () => (await import("./ja/index.ts")).ja,
    es: async () => (await import("./es/index.ts")).es,
    zh: async () => (await import("./zh/index.ts")).zh,
  },
);
