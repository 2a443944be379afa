// Draws a passphrase, reads the one that somebody enters, and makes the key that is sent to the server (R81). The words
// themselves leave the page never. Pure, but for the browser's random numbers and its SHA-256.

/** Eight of 1,295 words are 82 bits. */
export const PASSPHRASE_WORDS = 8;
/** So many letters identify a word. */
const PREFIX_LETTERS = 3;

/** Fills an array with random numbers, as `crypto.getRandomValues` does. */
export type FillRandom = (numbers: Uint16Array<ArrayBuffer>) => void;

/** Returns words of the list, each with the same probability. */
export function drawPassphrase(list: readonly string[], fill: FillRandom): readonly string[] {
  // Numbers above the last multiple of the list's length would make its first words more probable.
  const end = 65_536 - (65_536 % list.length);
  const numbers = new Uint16Array(1);
  const words: string[] = [];
  while (words.length < PASSPHRASE_WORDS) {
    fill(numbers);
    const [number = end] = numbers;
    const word = number < end ? list[number % list.length] : undefined;
    if (word !== undefined) {
      words.push(word);
    }
  }
  return words;
}

/** The words that were entered, or why they are no passphrase: a word that the list does not have, or their number. */
export type Reading =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "unknown_word"; readonly word: string }
  | { readonly kind: "count"; readonly count: number };

/**
 * Reads a passphrase as people write it: with capitals, numbers, commas or line breaks, in full-width letters, with
 * words cut short after three letters, or with a mistake after these.
 */
export function readPassphrase(text: string, list: readonly string[]): Reading {
  const entered =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  const words: string[] = [];
  for (const word of entered) {
    const prefix = word.slice(0, PREFIX_LETTERS);
    const found =
      prefix.length < PREFIX_LETTERS ? undefined : list.find((one) => one.startsWith(prefix));
    if (found === undefined) {
      return { kind: "unknown_word", word };
    }
    words.push(found);
  }
  return words.length === PASSPHRASE_WORDS
    ? { kind: "words", words }
    : { kind: "count", count: words.length };
}

/** Returns the key of a passphrase: a SHA-256 in hex. */
export async function keyOf(words: readonly string[]): Promise<string> {
  const text = new TextEncoder().encode(`hyperflock passphrase 1: ${words.join(" ")}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
