// Keeps the newest checkpoint that only this device has, in an IndexedDB of its own, until the server has it or its trial
// ends. So a reload loses nothing that a cut line kept back. Without room on the device it stays in memory, where this
// visit finds it. Runs on the agent thread.

import type { DBSchema, IDBPDatabase } from "idb";
import { inTime, openDatabase } from "../../base/database.ts";
import { sha256Hex } from "../../base/hex.ts";
import { type KeptCheckpoint, readKept } from "../machine/kept_checkpoint.ts";

/** A kept checkpoint that is older is removed: by then another device has its trial. */
export const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** The longest wait for the bytes, which may be 64 MiB on a slow phone. */
const READ_MS = 30_000;

export interface Head {
  readonly kept: unknown;
  /** When it was kept, in Unix milliseconds. */
  readonly savedAt: number;
}

/** The place of one project's checkpoint. All methods reject if the browser refuses. */
export interface Shelf {
  head(): Promise<Head | undefined>;
  bytes(): Promise<unknown>;
  /** Replaces both. If they do not fit, those before stay. */
  put(head: Head, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Removes both if the head is as `isGone` says. */
  remove(isGone: (head: Head | undefined) => boolean): Promise<void>;
}

export class CheckpointStore {
  readonly #shelf: Shelf;
  readonly #now: () => number;
  /** The checkpoint that is being written, or for which the device has no room. */
  #unwritten: { readonly sha256: string; readonly bytes: Uint8Array<ArrayBuffer> } | null = null;
  #changing: Promise<void> = Promise.resolve();

  /** `now` returns the time in Unix milliseconds. */
  constructor(shelf: Shelf, now: () => number) {
    this.#shelf = shelf;
    this.#now = now;
  }

  static async open(code: string): Promise<CheckpointStore> {
    const project = await sha256Hex(new TextEncoder().encode(code));
    return new CheckpointStore(new DatabaseShelf(project), Date.now);
  }

  /** Keeps a checkpoint in place of the one before. If it does not fit, the one before stays on the device. */
  keep(kept: KeptCheckpoint, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { sha256 } = kept;
    this.#unwritten = { sha256, bytes };
    return this.#change(async () => {
      // A newer one is about to replace it.
      if (this.#unwritten?.sha256 !== sha256) return;
      await this.#shelf.put({ kept, savedAt: this.#now() }, bytes);
      if (this.#unwritten?.sha256 === sha256) this.#unwritten = null;
    });
  }

  /** Returns the description of the checkpoint that an earlier visit has kept; null if there is none. */
  async find(): Promise<KeptCheckpoint | null> {
    const head = await inTime(this.#shelf.head(), undefined);
    if (head === undefined) return null;
    const kept = readKept(head.kept);
    if (kept !== null && Math.abs(this.#now() - head.savedAt) < KEPT_MS) return kept;
    await this.forgetAll();
    return null;
  }

  /** Returns the bytes of a kept checkpoint; null if the browser has removed, replaced or damaged them. */
  async read(sha256: string): Promise<Uint8Array<ArrayBuffer> | null> {
    // A copy, because the bytes are transferred to Python and may still be written or uploaded.
    if (this.#unwritten?.sha256 === sha256) return this.#unwritten.bytes.slice();
    const bytes = await inTime(this.#shelf.bytes(), undefined, READ_MS);
    if (!(bytes instanceof Uint8Array && bytes.buffer instanceof ArrayBuffer)) return null;
    const found = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return (await sha256Hex(found)) === sha256 ? found : null;
  }

  /** Removes the checkpoint, if it is still the one that is kept: another tab may have replaced it. */
  forget(sha256: string): Promise<void> {
    if (this.#unwritten?.sha256 === sha256) this.#unwritten = null;
    return this.#change(() =>
      this.#shelf.remove((head) => readKept(head?.kept)?.sha256 === sha256),
    );
  }

  forgetAll(): Promise<void> {
    this.#unwritten = null;
    return this.#change(() => this.#shelf.remove(() => true));
  }

  /** Makes one change after the other. A browser without room or storage refuses, and then nothing changes. */
  #change(change: () => Promise<void>): Promise<void> {
    this.#changing = this.#changing.then(() => change().catch(() => {}));
    return this.#changing;
  }
}

interface Schema extends DBSchema {
  /** The key of both is the hash of the enrolment code, as in store.ts. */
  heads: { key: string; value: Head };
  bytes: { key: string; value: Uint8Array<ArrayBuffer> };
}

class DatabaseShelf implements Shelf {
  readonly #project: string;
  #database: Promise<IDBPDatabase<Schema> | null> | null = null;

  constructor(project: string) {
    this.#project = project;
  }

  async head(): Promise<Head | undefined> {
    return await (await this.#open())?.get("heads", this.#project);
  }

  async bytes(): Promise<unknown> {
    return await (await this.#open())?.get("bytes", this.#project);
  }

  async put(head: Head, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const writing = await this.#writing();
    await Promise.all([
      writing.objectStore("heads").put(head, this.#project),
      writing.objectStore("bytes").put(bytes, this.#project),
      writing.done,
    ]);
  }

  async remove(isGone: (head: Head | undefined) => boolean): Promise<void> {
    const writing = await this.#writing();
    if (isGone(await writing.objectStore("heads").get(this.#project))) {
      await writing.objectStore("heads").delete(this.#project);
      await writing.objectStore("bytes").delete(this.#project);
    }
    await writing.done;
  }

  async #writing() {
    const database = await this.#open();
    if (database === null) throw new Error("The browser has no storage.");
    return database.transaction(["heads", "bytes"], "readwrite");
  }

  #open(): Promise<IDBPDatabase<Schema> | null> {
    this.#database ??= openDatabase<Schema>("hyperflock.checkpoints", (fresh) => {
      fresh.createObjectStore("heads");
      fresh.createObjectStore("bytes");
    });
    return this.#database;
  }
}
