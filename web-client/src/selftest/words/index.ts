// The texts of the self-test page in each language. Page thread.

import { PageWords } from "../../i18n/page_words.ts";
import type { SelfTestWords } from "./dictionary.ts";
import { en } from "./en.ts";
import { ja } from "./ja.ts";

export const selfTestWords = new PageWords<SelfTestWords>(
  { en, ja },
  {
    es: async () => (await import("./es.ts")).es,
    zh: async () => (await import("./zh.ts")).zh,
  },
);
