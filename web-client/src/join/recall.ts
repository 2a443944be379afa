// Finds out at the start of the page which projects it is about: those of the link, or those that this device remembers.
// Page thread. The caller passes in the memory and the browser's storage manager.

import type { Memories, ProjectMemory } from "@hyperflock/worker-runtime/page";
import type { CodeResult } from "./enrolment_code.ts";

export interface Recalled {
  readonly code: CodeResult;
  readonly memories: Memories;
}

/**
 * Without a code, the remembered projects take its place. The mirror answers at once. The database is read only if the
 * mirror has no project, because the page is not drawn before.
 */
export async function recall(
  code: CodeResult,
  memory: Pick<ProjectMemory, "atOnce" | "list">,
): Promise<Recalled> {
  const mirrored = memory.atOnce();
  if (code.kind !== "missing") {
    return { code, memories: { ...mirrored, damaged: 0 } };
  }
  const memories = mirrored.projects.length > 0 ? mirrored : await memory.list();
  const [first, ...others] = memories.projects.map((project) => project.code);
  if (first === undefined) {
    return { code, memories };
  }
  return { code: { kind: "codes", codes: [first, ...others], isMemory: true }, memories };
}

/** Returns whether the browser has promised to keep this origin's storage. With `ask`, asks for that first. */
export async function isKept(
  storage: Pick<StorageManager, "persist" | "persisted"> | undefined,
  ask: boolean,
): Promise<boolean> {
  try {
    return ask ? (await storage?.persist()) === true : (await storage?.persisted()) === true;
  } catch {
    return false; // The browser has no such promise, or forbids storage.
  }
}
