import { describe, expect, it } from "vitest";
import { drawPassphrase, keyOf, PASSPHRASE_WORDS, readPassphrase } from "./passphrase.ts";
import { wordList } from "./word_list.ts";

describe("the list of words", () => {
  it("has 1,295 plain words that three letters identify, so eight have 82 bits", () => {
    expect(wordList).toHaveLength(1_295);
    expect(new Set(wordList.map((word) => word.slice(0, 3))).size).toBe(1_295);
    expect(wordList.filter((word) => !/^[a-z]{3,10}$/.test(word))).toEqual([]);
    expect(PASSPHRASE_WORDS * Math.log2(wordList.length)).toBeGreaterThan(82);
  });
});

describe("drawPassphrase", () => {
  const drawn = (numbers: number[]) =>
    drawPassphrase(wordList, (out) => out.fill(numbers.shift() ?? 7));

  it("takes each word with the same probability", () => {
    // 50 times 1,295 numbers lead to each word 50 times; those above are drawn again.
    const counts = new Map<string, number>();
    for (let number = 0; number < 64_752; number += 8) {
      const numbers = Array.from({ length: 8 }, (_, i) => number + i).filter((one) => one < 64_750);
      for (const word of drawn([...numbers]).slice(0, numbers.length)) {
        counts.set(word, (counts.get(word) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(1_295);
    expect(new Set(counts.values())).toEqual(new Set([50]));
    expect(drawn([64_750, 65_535, 0])[0]).toBe(wordList[0]);
  });

  it("draws eight words from the browser's random numbers", () => {
    const words = drawPassphrase(wordList, (numbers) => crypto.getRandomValues(numbers));
    expect(words).toHaveLength(PASSPHRASE_WORDS);
    expect(readPassphrase(words.join(" "), wordList)).toEqual({ kind: "words", words });
  });
});

describe("readPassphrase", () => {
  const words = wordList.slice(0, 8);
  it.each([
    words.join(" "),
    words.join("\n").toUpperCase(),
    words.map((word, i) => `${i + 1}. ${word}`).join(", "),
    words.map((word) => word.slice(0, 3)).join(" "),
    `  ${words.join("   ").replace("aardvark", "aardvak")}. `,
    words.join(" ").replace("aardvark", "ａａｒｄｖａｒｋ"),
  ])("reads %j", (text) => {
    expect(readPassphrase(text, wordList)).toEqual({ kind: "words", words });
  });

  it("names what is wrong", () => {
    expect(readPassphrase("", wordList)).toEqual({ kind: "count", count: 0 });
    expect(readPassphrase(words.slice(1).join(" "), wordList)).toEqual({ kind: "count", count: 7 });
    expect(readPassphrase("aardvark zzz", wordList)).toEqual({ kind: "unknown_word", word: "zzz" });
    expect(readPassphrase("aa", wordList)).toEqual({ kind: "unknown_word", word: "aa" });
    expect(readPassphrase("ありがとう", wordList)).toEqual({
      kind: "unknown_word",
      word: "ありがとう",
    });
  });
});

describe("keyOf", () => {
  it("is the same for the same words, as long as there are passphrases", async () => {
    const key = await keyOf(wordList.slice(0, 8));
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(key).toBe("fdc800fc7fb9006ed7c45a039ac654f9a5efdea22b973c813c3cc7c5ef809247");
    expect(await keyOf(wordList.slice(0, 8).toReversed())).not.toBe(key);
  });
});
