// Makes texts from volunteers' devices (messages, tracebacks) safe to read. Characters that are hidden or that reverse
// the direction of text become visible. Markup is harmless, because pages only set text. Page thread; pure.

import { HIDDEN } from "../../ui/shown_name.ts";

/** Returns the text with U+FFFD in place of each hidden character. Tabs and newlines stay, unlike in a name. */
export function visibleText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(HIDDEN, (character) =>
      character === "\t" || character === "\n" ? character : "\ufffd",
    );
}
