// How a name that somebody gave is shown. The server takes only names of plain text; older databases may have others.

/** Matches characters that are invisible, change the order of others, or have no agreed shape. */
export const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Returns the name with `\u{202E}` in place of each hidden character. */
export function shownName(name: string): string {
  return name.replace(HIDDEN, (character) => {
    const digits = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return `\\u{${digits}}`;
  });
}
