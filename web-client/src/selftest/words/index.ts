// The texts of the self-test page in each language. Page thread; pure data.

import type { Language } from "../../i18n/language.ts";
import type { SelfTestWords } from "./dictionary.ts";
import { en } from "./en.ts";
import { ja } from "./ja.ts";

export const selfTestWords: Readonly<Record<Language, SelfTestWords>> = { en, ja };
