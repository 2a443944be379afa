// What holds of every page's words in both languages: one suite for all dictionaries.

import { describe, expect, it } from "vitest";

const JAPANESE = /[\u3040-\u30ff\u4e00-\u9fff]/;

interface Exceptions {
  /** Paths of what is no word of any language. */
  readonly sameEverywhere?: readonly string[];
  /** Paths of Japanese sentences whose grammar takes other parts than the English one, with those parts. */
  readonly otherParts?: Readonly<Record<string, readonly string[]>>;
}

/** Describes `en` and `ja`; `what` is the subject of the suite's sentences. */
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

/** Every leaf as `[path, text]`; functions are called with their parameters' places. */
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

/** The parameters that a sentence uses, in no order. */
function partsOf(text: string): readonly string[] {
  return [...new Set(text.match(/‹\d›/g) ?? [])].sort();
}
