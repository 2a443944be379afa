// Detects whether the browser ended the last visit. A tab that runs out of memory, or that the browser closes in the
// background, runs no code at its end. So the page stores a note of what it does, and removes the note at a normal end.
// If the note is still there at the next visit, the browser ended the last visit. Runs on the page thread. The caller
// passes in the storage.

import type { Interrupted, VolunteerState } from "../page_contract/volunteer_state.ts";

const STORAGE_KEY = "hyperflock.running";

export type NoteStore = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export class LastVisit {
  readonly #store: NoteStore;
  #written = "";
  #isClosed = false;

  constructor(store: NoteStore) {
    this.#store = store;
  }

  /** Returns the note of an earlier visit, or null if that visit ended normally. */
  read(): Interrupted | null {
    try {
      return parse(this.#store.getItem(STORAGE_KEY));
    } catch {
      return null; // Storage is forbidden, or another program wrote the note.
    }
  }

  /** Stores what this tab does now. */
  note(state: VolunteerState): void {
    if (this.#isClosed) return;
    const note = noteOf(state);
    const text = note === null ? "" : JSON.stringify(note);
    if (text === this.#written) return;
    this.#written = text;
    try {
      if (text === "") this.#store.removeItem(STORAGE_KEY);
      else this.#store.setItem(STORAGE_KEY, text);
    } catch {
      // Storage is forbidden, so the next visit will know nothing of this one.
    }
  }

  /** Begins the work of a new visit. From then on the earlier note is not reported. */
  begin(): void {
    this.#written = "-";
    this.note({ phase: "idle" });
  }

  /**
   * Removes the note, because the page is closed or left normally. Until `reopen` no other is stored: browsers report
   * that the page is hidden after they have reported that it is left.
   */
  close(): void {
    this.note({ phase: "idle" });
    this.#isClosed = true;
  }

  /** The browser shows the page again that was left, from its back/forward cache. */
  reopen(): void {
    this.#isClosed = false;
  }
}

function noteOf(state: VolunteerState): Interrupted | null {
  if ("trial" in state) {
    const { study, studyName, number } = state.trial;
    return { during: "trial", study, studyName, number };
  }
  return state.phase === "paused" && state.reason === "hidden" ? { during: "hidden" } : null;
}

function parse(text: string | null): Interrupted | null {
  const note: unknown = text === null ? null : JSON.parse(text);
  if (typeof note !== "object" || note === null || !("during" in note)) return null;
  if (note.during === "hidden") return { during: "hidden" };
  const { study, studyName, number } = note as Readonly<Record<string, unknown>>;
  const isTrial =
    Number.isSafeInteger(study) && Number.isSafeInteger(number) && typeof studyName === "string";
  if (note.during !== "trial" || !isTrial) return null;
  return { during: "trial", study: Number(study), studyName, number: Number(number) };
}
