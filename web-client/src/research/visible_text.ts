// Texts that come from phones (messages, tracebacks), made harmless for the eye: marks that turn the direction of text or
// hide in it become visible. Page thread; pure. Markup is no concern here: pages only ever set text.

/** Control characters but tab and newline, and Unicode's marks of direction (UAX 9) and of no width. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function visibleText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN, "\ufffd");
}
