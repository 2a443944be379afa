// Opens an IndexedDB database, and limits the wait for an answer: browsers whose storage is switched off refuse, throw, or
// never answer. Any thread.

import { type DBSchema, type IDBPDatabase, type OpenDBCallbacks, openDB } from "idb";

/** The longest wait for an answer of the browser's storage. */
const ANSWER_MS = 3_000;

/** Opens version 1 of a database. Returns null where the browser refuses or does not answer in time. */
export async function openDatabase<S extends DBSchema>(
  name: string,
  upgrade: NonNullable<OpenDBCallbacks<S>["upgrade"]>,
): Promise<IDBPDatabase<S> | null> {
  return "indexedDB" in globalThis ? await inTime(opened(name, upgrade), null) : null;
}

/** Returns the answer, or `otherwise` if it fails, comes after `ms`, or was not asked for. */
export async function inTime<T, U>(
  answer: Promise<T> | undefined,
  otherwise: U,
  ms = ANSWER_MS,
): Promise<T | U> {
  if (answer === undefined) return otherwise;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<U>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), ms);
  });
  const answered = await Promise.race([answer.catch(() => otherwise), late]);
  clearTimeout(timer);
  return answered;
}

// It is async because some browsers refuse by an exception, and not by the request.
async function opened<S extends DBSchema>(
  name: string,
  upgrade: NonNullable<OpenDBCallbacks<S>["upgrade"]>,
): Promise<IDBPDatabase<S>> {
  return await openDB<S>(name, 1, { upgrade });
}
