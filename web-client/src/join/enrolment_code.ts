// The enrolment code of the join link. It is a secret: it travels in the fragment, which browsers never
// send, and leaves the address bar at once so that it is not in history, screenshots or shared addresses.
// Page thread; the environment is passed in.

const kStorageKey = "hyperflock.code";
const kCodePattern = /^[A-Za-z0-9_.~-]{1,200}$/;

export interface CodeEnvironment {
  readonly location: Pick<Location, "hash" | "pathname" | "search">;
  readonly history: Pick<History, "replaceState">;
  readonly store: Pick<Storage, "getItem" | "setItem">;
}

export type CodeResult =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "missing" }
  | { readonly kind: "malformed" };

/** Takes the code out of the address, or from this tab's earlier visit when the page was reloaded. */
export function takeCode({ location, history, store }: CodeEnvironment): CodeResult {
  const fragment = location.hash.slice(1);
  if (fragment !== "") {
    history.replaceState(null, "", location.pathname + location.search);
    if (!kCodePattern.test(fragment)) {
      return { kind: "malformed" };
    }
    try {
      store.setItem(kStorageKey, fragment);
    } catch {
      // Storage is forbidden here: the code lasts until the page is reloaded.
    }
    return { kind: "code", code: fragment };
  }
  try {
    const stored = store.getItem(kStorageKey);
    if (stored !== null && kCodePattern.test(stored)) {
      return { kind: "code", code: stored };
    }
  } catch {
    // As above.
  }
  return { kind: "missing" };
}

/** The whole link again, for a volunteer who must open it elsewhere. */
export function joinLink(origin: string, code: string): string {
  return `${origin}/join#${code}`;
}
