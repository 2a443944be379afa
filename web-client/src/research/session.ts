// Keeps the researcher's token until this tab is closed. The token is never in the URL. Page thread. The caller passes
// in the storage.

const STORAGE_KEY = "hyperflock.token";
/** Matches the texts that can be a token. A token has only characters that the request header can carry. */
const TOKEN_PATTERN = /^[\x21-\x7e]{1,300}$/;

export type TokenStore = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function isToken(text: string): boolean {
  return TOKEN_PATTERN.test(text);
}

export function keptToken(store: TokenStore): string | null {
  try {
    const token = store.getItem(STORAGE_KEY);
    return token !== null && isToken(token) ? token : null;
  } catch {
    return null;
  }
}

export function keepToken(store: TokenStore, token: string): void {
  try {
    store.setItem(STORAGE_KEY, token);
  } catch {
    // Storage is forbidden, so the token lasts only until the page is reloaded.
  }
}

export function forgetToken(store: TokenStore): void {
  try {
    store.removeItem(STORAGE_KEY);
  } catch {
    // Storage is forbidden, so nothing was stored.
  }
}
