// The researcher's token for as long as this tab lives. It is never in the address. Page thread; the store is passed in.

const kStorageKey = "hyperflock.token";
/** What the header can carry; anything else is no token. */
const kTokenPattern = /^[\x21-\x7e]{1,300}$/;

export type TokenStore = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function isToken(text: string): boolean {
  return kTokenPattern.test(text);
}

export function keptToken(store: TokenStore): string | null {
  try {
    const token = store.getItem(kStorageKey);
    return token !== null && isToken(token) ? token : null;
  } catch {
    return null;
  }
}

export function keepToken(store: TokenStore, token: string): void {
  try {
    store.setItem(kStorageKey, token);
  } catch {
    // Storage is forbidden here: the token lasts until the page is reloaded.
  }
}

export function forgetToken(store: TokenStore): void {
  try {
    store.removeItem(kStorageKey);
  } catch {
    // As above.
  }
}
