// The enrolment code of the join link. It is a secret: it travels in the fragment, which browsers never
// send, and leaves the address bar at once so that it is not in history, screenshots or shared addresses.
// A link may hold the codes of several projects, with commas between them: the volunteer chooses one.
// Page thread; the environment is passed in.

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

/** Null for what no join link holds. The same code twice is one. */
function codesOf(text: string): readonly [string, ...string[]] | null {
  const [first, ...others] = new Set(text.split(","));
  const codes = [first ?? "", ...others] as const;
  return codes.length <= MAX_CODES && codes.every((code) => CODE_PATTERN.test(code)) ? codes : null;
}

/** Takes the codes out of the address, or from this tab's earlier visit when the page was reloaded. */
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
      // Storage is forbidden here: the code lasts until the page is reloaded.
    }
    return { kind: "codes", codes };
  }
  try {
    const codes = codesOf(store.getItem(STORAGE_KEY) ?? "");
    if (codes !== null) {
      return { kind: "codes", codes };
    }
  } catch {
    // As above.
  }
  return { kind: "missing" };
}

/** The whole link again, for a volunteer who must open it elsewhere. */
export function joinLink(origin: string, codes: readonly string[]): string {
  return `${origin}/join#${codes.join(",")}`;
}
