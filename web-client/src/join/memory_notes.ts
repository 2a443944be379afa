// The sentences about what this device remembers, or could not. Pure.

import type { ProjectView, RememberedProject } from "@hyperflock/worker-runtime/page";
import type { Dictionary } from "../i18n/dictionary.ts";
import { shownName } from "../ui/shown_name.ts";

export interface MemoryFacts {
  /** The chosen project as it was at the last visit; null if it was not remembered. */
  readonly remembered: RememberedProject | null;
  /** The chosen project as the server describes it now; null while it does not. */
  readonly project: ProjectView | null;
  /** The number of records that could not be read. */
  readonly damaged: number;
  /** Whether this browser refused to remember the project. */
  readonly notKept: boolean;
  readonly words: Dictionary["memory"];
}

export function memoryNotes({
  remembered,
  project,
  damaged,
  notKept,
  words,
}: MemoryFacts): readonly string[] {
  const notes: string[] = [];
  const earlier = remembered?.name ?? "";
  if (project !== null && earlier !== "" && earlier !== project.name) {
    notes.push(words.renamed(shownName(earlier), shownName(project.name)));
  }
  if (damaged > 0) {
    notes.push(words.damaged);
  }
  if (notKept) {
    notes.push(words.notKept);
  }
  return notes;
}
