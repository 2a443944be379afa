// The texts of the join page in each language. Page thread; pure data.

import type { Dictionary } from "./dictionary.ts";
import { en } from "./en.ts";
import { ja } from "./ja.ts";
import type { Language } from "./language.ts";

export const dictionaries: Readonly<Record<Language, Dictionary>> = { en, ja };
