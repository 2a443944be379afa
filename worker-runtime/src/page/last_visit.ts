// How the last visit to this page ended, where the browser ended it: a tab that runs out of memory, or is dropped in the
// background, runs no code at its end. So the page writes down what it does while it does it, and a note that is still there
// at the next visit tells. Runs on the page thread; the storage is passed in.

import type { Interrupted, VolunteerState } from "../page_contract/volunteer_state.ts";

const STORAGE_KEY = "hyperflock.running";

export type NoteStore = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export class LastVisit {
  readonly #store: NoteStore;
  #written = "";

  constructor(store: NoteStore) {
    this.#store = store;
  }

  /** What the note of an earlier visit says; null when that one ended in good order. */
  read(): Interrupted | null {
    try {
      return parse(this.#store.getItem(STORAGE_KEY));
    } catch {
      return null; // Storage is forbidden here, or something else wrote there.
    }
  }

  /** Writes down what this tab does now. */
  note(state: VolunteerState): void {
    const note = noteOf(state);
    const text = note === null ? "" : JSON.stringify(note);
    if (text === this.#written) return;
    this.#written = text;
    try {
      if (text === "") this.#store.removeItem(STORAGE_KEY);
      else this.#store.setItem(STORAGE_KEY, text);
    } catch {
      // As above: the next visit then knows nothing of this one.
    }
  }

  /** A new visit's work begins: what was written before is no news any more. */
  begin(): void {
    this.#written = "-";
    this.note({ phase: "idle" });
  }

  /** The page goes away in good order. */
  close(): void {
    this.note({ phase: "idle" });
  }
}

function noteOf(state: VolunteerState): Interrupted | null {
  if (state.phase === "loading" || state.phase === "computing") {
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
