// Gets bundles and data by their hash, from the Cache API or else from the network: large data by a link
// (linked_data.ts), everything else from the server. The hash is verified at each read. The cache has a size limit, and
// the browser may have another one; the least recently used blob is removed first. Runs on the agent thread.

import { Backoff } from "../../base/backoff.ts";
import { sha256Hex } from "../../base/hex.ts";
import { BLOB_CACHE_NAME, blobAddress } from "./blob_place.ts";
import { readExactly, SizeError, untilSilent } from "./body.ts";
import { LinkedData } from "./linked_data.ts";
import type { BlobRecord } from "./store.ts";

/** Room for a few data sets of the largest size that a server takes by default (512 MiB). */
export const CACHE_BYTES = 2 * 1024 * 1024 * 1024;
const TRIES = 4;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** How long the server's answer may take to begin, and then to go on. */
export const SERVER_SILENCE_MS = 60_000;

export class BlobError extends Error {
  override readonly name = "BlobError";
  readonly code: "blob_unavailable" | "hash_mismatch";

  constructor(code: BlobError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** The part of Store that this class needs. */
export interface BlobIndex {
  blobs(): Promise<readonly BlobRecord[]>;
  keepBlob(record: BlobRecord): Promise<void>;
  forgetBlob(sha256: string): Promise<void>;
}

/** The part of the Cache API that this class needs. */
export interface ByteCache {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  delete(url: string): Promise<boolean>;
}

export interface BlobCacheOptions {
  readonly index: BlobIndex;
  /** The cache; null without a Cache API. */
  readonly cache: ByteCache | null;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly random: () => number;
  /** Returns the time in Unix milliseconds. */
  readonly wallClock: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Returns how many bytes the browser lets this origin store; Infinity if it does not say. */
  readonly quotaBytes: () => Promise<number>;
  readonly limitBytes?: number;
}

export interface BlobWanted {
  readonly sha256: string;
  readonly bytes: number;
}

export async function openByteCache(): Promise<ByteCache | null> {
  return "caches" in globalThis ? await caches.open(BLOB_CACHE_NAME).catch(() => null) : null;
}

/** Returns how many bytes the browser lets this origin store; Infinity if it does not say. */
export async function storageQuota(): Promise<number> {
  const estimate = await navigator.storage?.estimate?.().catch(() => null);
  return estimate?.quota ?? Number.POSITIVE_INFINITY;
}

/** Removes every cached blob. */
export async function forgetBytes(): Promise<void> {
  if ("caches" in globalThis) await caches.delete(BLOB_CACHE_NAME).catch(() => false);
}

export class BlobCache {
  readonly #options: BlobCacheOptions;
  readonly #linked: LinkedData;

  constructor(options: BlobCacheOptions) {
    this.#options = options;
    this.#linked = new LinkedData(options);
  }

  /** Returns the verified bytes. Throws BlobError, or AbortError if `signal` is aborted. */
  async get(
    wanted: BlobWanted,
    authorization: string,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const cached = await this.#fromCache(wanted);
    if (cached !== null) return cached;
    const bytes =
      (await this.#linked.get(wanted, authorization, signal)) ??
      (await this.#download(wanted, authorization, signal));
    await this.#keep(wanted, bytes);
    return bytes;
  }

  /** Returns how many bytes `get` would fetch for all of these. */
  async missing(wanted: readonly BlobWanted[]): Promise<number> {
    const { cache } = this.#options;
    const sizes = new Map(wanted.map(({ sha256, bytes }) => [sha256, bytes]));
    for (const sha256 of [...sizes.keys()]) {
      const found = await cache?.match(blobAddress(sha256)).catch(() => undefined);
      if (found !== undefined) sizes.delete(sha256);
    }
    return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  async #fromCache(wanted: BlobWanted): Promise<Uint8Array<ArrayBuffer> | null> {
    const { cache, index, wallClock } = this.#options;
    const response = await cache?.match(blobAddress(wanted.sha256)).catch(() => undefined);
    if (response === undefined) return null;
    const bytes = new Uint8Array(await response.arrayBuffer());
    if ((await sha256Hex(bytes)) !== wanted.sha256) {
      // The bytes on this device have changed, so they count as missing.
      await this.#drop(wanted.sha256);
      return null;
    }
    await index.keepBlob({
      sha256: wanted.sha256,
      bytes: bytes.length,
      usedAt: wallClock(),
    });
    return bytes;
  }

  async #download(
    wanted: BlobWanted,
    authorization: string,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { pause, random } = this.#options;
    const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, random);
    for (;;) {
      try {
        return await this.#tryDownload(wanted, authorization, signal);
      } catch (error) {
        const isLast = backoff.failures + 1 >= TRIES || error instanceof BlobError;
        if (signal.aborted || isLast) throw signal.aborted ? error : asBlobError(error, wanted);
        await pause(backoff.nextMs(), signal);
      }
    }
  }

  async #tryDownload(
    wanted: BlobWanted,
    authorization: string,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await untilSilent(SERVER_SILENCE_MS, signal, async (signal, heard) => {
      const response = await this.#options.fetch(blobAddress(wanted.sha256), {
        headers: { authorization },
        // The browser's HTTP cache is not needed, because this class has its own cache.
        cache: "no-store",
        signal,
      });
      if (response.status >= 400 && response.status < 500 && response.status !== 429) {
        const why = `The server answered ${response.status} for a file of the trial.`;
        throw new BlobError("blob_unavailable", why);
      }
      if (!response.ok || response.body === null)
        throw new Error(`The server answered ${response.status}.`);
      return readExactly(response.body, wanted.bytes, heard);
    }).catch((error: unknown) => {
      if (error instanceof SizeError) return null;
      throw error;
    });
    if (bytes === null || (await sha256Hex(bytes)) !== wanted.sha256) {
      throw new BlobError(
        "hash_mismatch",
        "A file of the trial is not the one that was asked for.",
      );
    }
    return bytes;
  }

  async #keep(wanted: BlobWanted, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { cache, quotaBytes, limitBytes = CACHE_BYTES } = this.#options;
    if (cache === null) return;
    const limit = Math.min(limitBytes, await quotaBytes());
    if (bytes.length > limit) return;
    await this.#makeRoom(limit - bytes.length);
    while (!(await this.#store(cache, wanted, bytes))) {
      // The browser has less room than it said.
      const oldest = (await this.#oldestFirst())[0];
      if (oldest === undefined) return;
      await this.#drop(oldest.sha256);
    }
  }

  /** Returns whether the cache has the blob now. */
  async #store(
    cache: ByteCache,
    wanted: BlobWanted,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<boolean> {
    const { index, wallClock } = this.#options;
    try {
      await cache.put(blobAddress(wanted.sha256), new Response(bytes));
      await index.keepBlob({ sha256: wanted.sha256, bytes: bytes.length, usedAt: wallClock() });
      return true;
    } catch {
      await this.#drop(wanted.sha256);
      return false;
    }
  }

  async #makeRoom(room: number): Promise<void> {
    const records = await this.#oldestFirst();
    let total = records.reduce((sum, record) => sum + record.bytes, 0);
    for (const record of records) {
      if (total <= room) return;
      await this.#drop(record.sha256);
      total -= record.bytes;
    }
  }

  /** Returns what is kept, the least recently used first. */
  async #oldestFirst(): Promise<BlobRecord[]> {
    const records = [...(await this.#options.index.blobs())];
    return records.sort((a, b) => a.usedAt - b.usedAt);
  }

  async #drop(sha256: string): Promise<void> {
    await this.#options.cache?.delete(blobAddress(sha256)).catch(() => false);
    await this.#options.index.forgetBlob(sha256);
  }
}

function asBlobError(error: unknown, wanted: BlobWanted): BlobError {
  if (error instanceof BlobError) return error;
  const why = `A file of the trial (${wanted.bytes} bytes) could not be fetched.`;
  return new BlobError("blob_unavailable", why);
}
