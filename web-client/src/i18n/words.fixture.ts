// One test suite for the texts of all pages: the English texts and those of the other languages must correspond.

import { describe, expect, it } from "vitest";

/** The characters of which a text in this language has at least one. Spanish is compared with the English text. */
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  ja: /[\u3040-\u30ff\u4e00-\u9fff]/,
  zh: /[\u4e00-\u9fff]/,
};
const TAGS: Readonly<Record<string, string>> = { zh: "zh-Hans" };

interface Exceptions {
  /** The paths of texts that are the same in English and in other languages, for example names. */
  readonly sameEverywhere?: readonly string[];
  /** The same, in one language. */
  readonly same?: Readonly<Record<string, readonly string[]>>;
  /** The parameters that a sentence of a language uses, by path, if they differ from those of the English sentence. */
  readonly otherParts?: Readonly<Record<string, readonly string[]>>;
  /** The paths of texts that English and Japanese do not have. */
  readonly notInEnglish?: readonly string[];
}

interface Tagged {
  readonly tag: string;
}

/** Declares the suite for the texts of a page, by language. `what` is its title and the subject of its tests' names. */
export function describeWords(
  what: string,
  { en, ...others }: Readonly<Record<string, Tagged>> & { readonly en: Tagged },
  { sameEverywhere = [], same = {}, otherParts = {}, notInEnglish = [] }: Exceptions = {},
): void {
  describe(what, () => {
    const english = new Map(leaves(en));

    it("have an English tag", () => {
      expect(en.tag).toBe("en");
    });

    describe.each(Object.keys(others))("in %s", (language) => {
      const words = others[language] as Tagged;
      const own = new Map(leaves(words));

      it("say something under the same keys as the English texts", () => {
        const keys = [...own.keys()].filter((path) => !notInEnglish.includes(path));
        expect(keys.sort()).toEqual([...english.keys()].sort());
        for (const [path, text] of [...english, ...own]) {
          expect(text.trim(), path).not.toBe("");
        }
      });

      it("use the same parts, wherever the grammar puts them", () => {
        for (const [path, text] of own) {
          const parts = otherParts[path] ?? partsOf(english.get(path) ?? "");
          expect(partsOf(text), path).toEqual(parts);
        }
      });

      it("hold no sentence that was left in English", () => {
        const script = SCRIPTS[language];
        const isLeft = ([path, text]: [string, string]) =>
          script === undefined ? text === english.get(path) : !script.test(text);
        const left = [...own].filter(isLeft).map(([path]) => path);
        const expected = [...sameEverywhere, ...(same[language] ?? [])];
        expect(left.filter((path) => path !== "/tag").sort()).toEqual(expected.sort());
      });

      it("carry their own language tag", () => {
        expect(words.tag).toBe(TAGS[language] ?? language);
      });
    });
  });
}

/** Returns every text as `[path, text]`. A text that is a function is called with a placeholder for each parameter. */
function leaves(value: unknown, path = ""): [string, string][] {
  if (typeof value === "string") {
    return [[path, value]];
  }
  if (typeof value === "function") {
    const call = value as (...places: string[]) => unknown;
    return leaves(call("‹0›", "‹1›", "‹2›", "‹3›"), `${path}()`);
  }
  return Object.entries(value as object).flatMap(([key, child]) => leaves(child, `${path}/${key}`));
}

/** Returns the placeholders in a sentence, sorted, because each language puts them in its own order. */
function partsOf(text: string): readonly string[] {
  return [...new Set(text.match(/‹\d›/g) ?? [])].sort();
}
