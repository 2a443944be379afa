// Stores the agent's data between visits, in the IndexedDB of the join page's origin: the device's identity for each
// project, its contribution, and the index of cached blobs. Without IndexedDB (private windows of some browsers) the
// agent works too, but keeps this data for one visit only. Runs on the agent thread.

import type { DBSchema, IDBPDatabase } from "idb";
import { openDatabase } from "../../base/database.ts";
import { sha256Hex } from "../../base/hex.ts";
import type { Contribution } from "../../page_contract/volunteer_state.ts";
import type { Device } from "../machine/events.ts";
import type { Finished } from "../machine/finished.ts";

interface DeviceRecord extends Device {
  readonly contribution: Contribution;
  /** A result that the server may not have. */
  readonly finished?: unknown;
}

export interface BlobRecord {
  readonly sha256: string;
  readonly bytes: number;
  /** The time of the last use in Unix milliseconds. */
  readonly usedAt: number;
}

interface Schema extends DBSchema {
  /** The key is the hash of the enrolment code. The code itself is not stored. */
  devices: { key: string; value: DeviceRecord };
  blobs: { key: string; value: BlobRecord };
}

const NOTHING: Contribution = { trials: 0, seconds: 0 };

export class Store {
  readonly #database: IDBPDatabase<Schema> | null;
  readonly #project: string;
  #changing = Promise.resolve();

  private constructor(database: IDBPDatabase<Schema> | null, project: string) {
    this.#database = database;
    this.#project = project;
  }

  static async open(code: string): Promise<Store> {
    const project = await sha256Hex(new TextEncoder().encode(code));
    const database = await openDatabase<Schema>("hyperflock", (fresh) => {
      fresh.createObjectStore("devices");
      fresh.createObjectStore("blobs", { keyPath: "sha256" });
    });
    return new Store(database, project);
  }

  async device(): Promise<Device | null> {
    const record = await this.#record();
    return record === null ? null : { device: record.device, secret: record.secret };
  }

  async contribution(): Promise<Contribution> {
    return (await this.#record())?.contribution ?? NOTHING;
  }

  async keepDevice(device: Device): Promise<void> {
    const record = { ...device, contribution: await this.contribution() };
    await this.#database?.put("devices", record, this.#project).catch(() => {});
  }

  async forgetDevice(): Promise<void> {
    await this.#database?.delete("devices", this.#project).catch(() => {});
  }

  keepContribution(contribution: Contribution): Promise<void> {
    return this.#change({ contribution });
  }

  /**
   * Returns what was stored of a result that an earlier visit could not deliver. `readFinished` reads it, but not here:
   * the page uses this class too, and needs no messages of the protocol before the tap.
   */
  async finished(): Promise<unknown> {
    return (await this.#record())?.finished;
  }

  /** Stores a result until it is delivered; null removes it. */
  keepFinished(finished: Finished | null): Promise<void> {
    return this.#change({ finished });
  }

  /** Changes a part of the device's record. Changes are made one after the other, so that none undoes another one. */
  #change(part: Partial<DeviceRecord>): Promise<void> {
    this.#changing = this.#changing.then(async () => {
      const record = await this.#record();
      if (record === null) return;
      await this.#database?.put("devices", { ...record, ...part }, this.#project).catch(() => {});
    });
    return this.#changing;
  }

  async blobs(): Promise<readonly BlobRecord[]> {
    return (await this.#database?.getAll("blobs").catch(() => [])) ?? [];
  }

  async keepBlob(record: BlobRecord): Promise<void> {
    await this.#database?.put("blobs", record).catch(() => {});
  }

  async forgetBlob(sha256: string): Promise<void> {
    await this.#database?.delete("blobs", sha256).catch(() => {});
  }

  async forgetBlobs(): Promise<void> {
    await this.#database?.clear("blobs").catch(() => {});
  }

  async #record(): Promise<DeviceRecord | null> {
    return (await this.#database?.get("devices", this.#project).catch(() => undefined)) ?? null;
  }
}
