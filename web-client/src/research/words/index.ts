// The texts of the researcher's page in each language. Page thread; pure data.

import type { Language } from "../../i18n/language.ts";
import type { Words } from "./dictionary.ts";
import { en } from "./en.ts";
import { ja } from "./ja.ts";

export const researchWords: Readonly<Record<Language, Words>> = { en, ja };
