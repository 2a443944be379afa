// Reads the enrolment codes of the join link. A code is a secret. It is in the URL's fragment, which browsers never send,
// and it leaves the address bar at once. So it is not in history, screenshots or shared URLs. A link may have the codes of
// several projects, separated by commas; the volunteer chooses one. Page thread. The caller passes in the browser's
// location, history and storage.

const STORAGE_KEY = "hyperflock.code";
const CODE_PATTERN = /^[A-Za-z0-9_.~-]{1,200}$/;
const MAX_CODES = 8;

export interface CodeEnvironment {
  readonly location: Pick<Location, "hash" | "pathname" | "search">;
  readonly history: Pick<History, "replaceState">;
  readonly store: Pick<Storage, "getItem" | "setItem">;
}

export type CodeResult =
  | { readonly kind: "codes"; readonly codes: readonly [string, ...string[]] }
  | { readonly kind: "missing" }
  | { readonly kind: "malformed" };

/** Returns the codes of a fragment, each once, or null if the fragment is not that of a join link. */
function codesOf(text: string): readonly [string, ...string[]] | null {
  const [first, ...others] = new Set(text.split(","));
  const codes = [first ?? "", ...others] as const;
  return codes.length <= MAX_CODES && codes.every((code) => CODE_PATTERN.test(code)) ? codes : null;
}

/** Removes the codes from the address and returns them. After a reload it returns those in this tab's storage. */
export function takeCode({ location, history, store }: CodeEnvironment): CodeResult {
  const fragment = location.hash.slice(1);
  if (fragment !== "") {
    history.replaceState(null, "", location.pathname + location.search);
    const codes = codesOf(fragment);
    if (codes === null) {
      return { kind: "malformed" };
    }
    try {
      store.setItem(STORAGE_KEY, fragment);
    } catch {
      // Storage is forbidden, so the codes last only until the page is reloaded.
    }
    return { kind: "codes", codes };
  }
  try {
    const codes = codesOf(store.getItem(STORAGE_KEY) ?? "");
    if (codes !== null) {
      return { kind: "codes", codes };
    }
  } catch {
    // Storage is forbidden, so nothing is stored.
  }
  return { kind: "missing" };
}

/** Returns the whole join link, for a volunteer who must open it in another browser. */
export function joinLink(origin: string, codes: readonly string[]): string {
  return `${origin}/join#${codes.join(",")}`;
}
