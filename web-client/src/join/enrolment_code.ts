// Reads the enrolment codes of the join link. A code is in the URL's fragment, which browsers never send. It leaves the
// address bar only when this browser has promised to keep the projects, because a bookmark of the page must lead back to
// them. Without a code in the address, the tab's own codes count, and then the projects that this device remembers. A
// link may have the codes of several projects, separated by commas; the volunteer chooses one. Page thread. The caller
// passes in the browser's location, history and storage.

import { isEnrolmentCode } from "@hyperflock/worker-runtime/enrolment_code";

const STORAGE_KEY = "hyperflock.code";
const MAX_CODES = 8;

export interface CodeEnvironment {
  readonly location: Pick<Location, "hash" | "pathname" | "search">;
  readonly history: Pick<History, "replaceState">;
  readonly store: Pick<Storage, "getItem" | "setItem">;
}

export type CodeResult =
  | {
      readonly kind: "codes";
      readonly codes: readonly [string, ...string[]];
      /** Whether the codes are those of the remembered projects, and not of a link. */
      readonly isMemory?: boolean;
    }
  | { readonly kind: "missing" }
  | { readonly kind: "malformed" };

/** Returns the codes of a fragment, each once, or null if the fragment is not that of a join link. */
function codesOf(text: string): readonly [string, ...string[]] | null {
  const [first, ...others] = new Set(text.split(","));
  const codes = [first ?? "", ...others] as const;
  return codes.length <= MAX_CODES && codes.every(isEnrolmentCode) ? codes : null;
}

/** Returns the codes of the address, or else those in this tab's storage. A malformed fragment is removed. */
export function takeCode({ location, history, store }: CodeEnvironment): CodeResult {
  const fragment = location.hash.slice(1);
  if (fragment !== "") {
    const codes = codesOf(fragment);
    if (codes === null) {
      history.replaceState(null, "", location.pathname + location.search);
      return { kind: "malformed" };
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

/** Removes the codes from the address. A reload of this tab still finds them. */
export function clearCode({ location, history, store }: CodeEnvironment): void {
  const fragment = location.hash.slice(1);
  if (codesOf(fragment) === null) {
    return;
  }
  try {
    store.setItem(STORAGE_KEY, fragment);
  } catch {
    return; // Storage is forbidden, so only the address keeps the codes.
  }
  history.replaceState(null, "", location.pathname + location.search);
}

/** Makes this tab forget its codes, because the device has forgotten a project. */
export function dropTabCode({ store }: { readonly store: Pick<Storage, "removeItem"> }): void {
  try {
    store.removeItem(STORAGE_KEY);
  } catch {
    // Storage is forbidden, so nothing is stored.
  }
}

/** Returns the whole join link, for a volunteer who must open it in another browser. */
export function joinLink(origin: string, codes: readonly string[]): string {
  return `${origin}/join#${codes.join(",")}`;
}
