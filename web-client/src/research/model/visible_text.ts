// Makes texts from volunteers' devices (messages, tracebacks) safe to read. Characters that are hidden or that reverse
// the direction of text become visible. Markup is harmless, because pages only set text. Page thread; pure.

/** Matches control characters except tab and newline, Unicode's direction marks (UAX 9) and zero-width characters. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function visibleText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN, "\ufffd");
}
