// Fetches data of studies at signed addresses, which a cache between the server and this device may answer ("Links" of
// server/docs/rest.md). Nothing depends on it: whatever goes wrong, the caller fetches from the server. Runs on the
// agent thread.

import * as v from "valibot";
import { sha256Hex } from "../../base/hex.ts";
import { readExactly, untilSilent } from "./body.ts";

/** Smaller data costs less than the request for a link. */
export const LINKED_BYTES = 1024 * 1024;
/** How long the answer may take to begin, and then to go on. */
export const SILENCE_MS = 15_000;
/** After a failure no link is used for this time, so that a cache that is away costs one wait, not one for each set. */
export const REST_MS = 600_000;
const LINK_MS = 15_000;

const linkAnswer = v.object({ url: v.pipe(v.string(), v.maxLength(2_048)) });

export interface LinkedDataOptions {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Returns the time in Unix milliseconds. */
  readonly wallClock: () => number;
}

export interface DataWanted {
  readonly sha256: string;
  readonly bytes: number;
}

export class LinkedData {
  readonly #options: LinkedDataOptions;
  #restUntil = 0;

  constructor(options: LinkedDataOptions) {
    this.#options = options;
  }

  /** Returns the verified bytes, or null if they must come from the server. Throws if `signal` is aborted. */
  async get(
    wanted: DataWanted,
    authorization: string,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    if (wanted.bytes < LINKED_BYTES || this.#options.wallClock() < this.#restUntil) return null;
    try {
      const bytes = await this.#download(wanted, authorization, signal);
      if ((await sha256Hex(bytes)) === wanted.sha256) return bytes;
    } catch (error) {
      if (signal.aborted) throw error;
    }
    this.#restUntil = this.#options.wallClock() + REST_MS;
    return null;
  }

  async #download(
    wanted: DataWanted,
    authorization: string,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { fetch } = this.#options;
    const given = await fetch(`/api/blobs/${wanted.sha256}/link`, {
      headers: { authorization },
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.any([signal, AbortSignal.timeout(LINK_MS)]),
    });
    if (!given.ok) throw new Error(`The server gave no link: ${given.status}.`);
    const { url } = v.parse(linkAnswer, await given.json());

    return untilSilent(SILENCE_MS, signal, async (signal, heard) => {
      const response = await fetch(url, {
        credentials: "omit",
        // With "no-store" the browser would send `Cache-Control: no-cache`, which some caches obey by asking the server.
        cache: "default",
        signal,
      });
      if (!response.ok || response.body === null)
        throw new Error(`The cache answered ${response.status}.`);
      return readExactly(response.body, wanted.bytes, heard);
    });
  }
}
