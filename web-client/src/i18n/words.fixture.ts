// One test suite for the dictionaries of all pages: the English and the Japanese texts must correspond.

import { describe, expect, it } from "vitest";

const JAPANESE = /[\u3040-\u30ff\u4e00-\u9fff]/;

interface Exceptions {
  /** The paths of texts that are the same in both languages, for example names. */
  readonly sameEverywhere?: readonly string[];
  /** The parameters that a Japanese sentence uses, by path, if they differ from those of the English sentence. */
  readonly otherParts?: Readonly<Record<string, readonly string[]>>;
}

/** Declares the suite for two dictionaries. `what` is its title and the subject of its tests' names. */
export function describeWords(
  what: string,
  { en, ja }: { readonly en: { readonly tag: string }; readonly ja: { readonly tag: string } },
  { sameEverywhere = [], otherParts = {} }: Exceptions = {},
): void {
  describe(what, () => {
    const english = new Map(leaves(en));
    const japanese = new Map(leaves(ja));

    it("say something under the same keys in both languages", () => {
      expect([...japanese.keys()]).toEqual([...english.keys()]);
      for (const [path, text] of [...english, ...japanese]) {
        expect(text.trim(), path).not.toBe("");
      }
    });

    it("use the same parts, wherever the grammar puts them", () => {
      for (const [path, text] of japanese) {
        const parts = otherParts[path] ?? partsOf(english.get(path) ?? "");
        expect(partsOf(text), path).toEqual(parts);
      }
    });

    it("hold no sentence that was left in English", () => {
      const left = [...japanese].filter(([, text]) => !JAPANESE.test(text)).map(([path]) => path);
      expect(left.sort()).toEqual(["/tag", ...sameEverywhere].sort());
    });

    it("carry their own language tag", () => {
      expect([en.tag, ja.tag]).toEqual(["en", "ja"]);
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
