// Tests that bundles and data come from the cache if intact, otherwise from the server, and that the cache is limited.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import { BlobCache, type BlobWanted, type ByteCache, SERVER_SILENCE_MS } from "./blob_cache.ts";
import { LINKED_BYTES } from "./linked_data.ts";
import type { BlobRecord } from "./store.ts";

let stored: Map<string, Uint8Array<ArrayBuffer>>;
let records: Map<string, BlobRecord>;
let served: Map<string, (() => Response)[]>;
let requests: string[];
let pauses: number[];
let clock: number;
let quota: number;
/** What the server answers instead of what it serves. */
let answerWith: ((init: RequestInit) => Response) | null;

const signal = new AbortController().signal;
const urlOf = (sha256: string) => `/api/blobs/${sha256}`;

const byteCache: ByteCache = {
  match: async (url) => {
    const bytes = stored.get(url);
    return bytes === undefined ? undefined : new Response(bytes);
  },
  put: async (url, response) => {
    stored.set(url, new Uint8Array(await response.arrayBuffer()));
  },
  delete: async (url) => stored.delete(url),
};

function open(cache: ByteCache | null = byteCache, limitBytes = 1_000): BlobCache {
  return new BlobCache({
    index: {
      blobs: async () => [...records.values()],
      keepBlob: async (record) => {
        records.set(record.sha256, record);
      },
      forgetBlob: async (sha256) => {
        records.delete(sha256);
      },
    },
    cache,
    fetch: async (url, init) => {
      requests.push(`${url} ${new Headers(init.headers).get("authorization")}`);
      if (answerWith !== null) return answerWith(init);
      const answer = served.get(url)?.shift();
      if (answer === undefined) throw new TypeError("Failed to fetch");
      return answer();
    },
    random: () => 1,
    wallClock: () => {
      clock += 1;
      return clock;
    },
    pause: async (ms) => {
      pauses.push(ms);
    },
    quotaBytes: async () => quota,
    limitBytes,
  });
}

/** Lets the server answer with these responses first, and then with a blob of `length` bytes. */
async function serve(fill: number, length: number, ...before: Response[]): Promise<BlobWanted> {
  const bytes = new Uint8Array(length).fill(fill);
  const wanted = { sha256: await sha256Hex(bytes), bytes: length };
  const answers = [...before.map((response) => () => response), () => new Response(bytes)];
  served.set(urlOf(wanted.sha256), answers);
  return wanted;
}

beforeEach(() => {
  stored = new Map();
  records = new Map();
  served = new Map();
  requests = [];
  pauses = [];
  clock = 0;
  quota = Number.POSITIVE_INFINITY;
  answerWith = null;
});

describe("A blob", () => {
  test("is fetched once with the device's credential, then read from the cache.", async () => {
    const cache = open();
    const wanted = await serve(1, 10);
    const first = await cache.get(wanted, "Device d:s", signal);
    expect(await cache.get(wanted, "Device d:s", signal)).toEqual(first);
    expect(requests).toEqual([`${urlOf(wanted.sha256)} Device d:s`]);
  });

  test("that was changed in the cache is fetched again.", async () => {
    const cache = open();
    const wanted = await serve(1, 10);
    stored.set(urlOf(wanted.sha256), new Uint8Array(10).fill(9));
    expect([...(await cache.get(wanted, "", signal))]).toEqual(Array(10).fill(1));
    expect(stored.get(urlOf(wanted.sha256))?.[0]).toBe(1);
  });

  test("with another content than its hash is refused and not kept.", async () => {
    const wanted = await serve(1, 10);
    served.set(urlOf(wanted.sha256), [() => new Response(new Uint8Array(10))]);
    await expect(open().get(wanted, "", signal)).rejects.toMatchObject({ code: "hash_mismatch" });
    expect(stored.size).toBe(0);
  });

  test.each([9, 11])("with %i bytes in place of 10 is refused at once.", async (length) => {
    const wanted = await serve(1, 10);
    served.set(urlOf(wanted.sha256), [() => new Response(new Uint8Array(length))]);
    await expect(open().get(wanted, "", signal)).rejects.toMatchObject({ code: "hash_mismatch" });
    expect(requests).toHaveLength(1);
  });

  test("that the server does not give is not asked for again.", async () => {
    const wanted = await serve(1, 10, new Response(null, { status: 404 }));
    await expect(open().get(wanted, "", signal)).rejects.toMatchObject({
      code: "blob_unavailable",
    });
    expect(requests).toHaveLength(1);
  });

  test("is asked for again while the server is busy, with longer and longer pauses.", async () => {
    const busy = () => new Response(null, { status: 503 });
    const wanted = await serve(1, 10, busy(), busy(), new Response(null, { status: 429 }));
    expect((await open().get(wanted, "", signal)).length).toBe(10);
    expect(pauses).toEqual([500, 1_000, 2_000]);
  });

  test("that never comes is given up after four tries.", async () => {
    const wanted = { sha256: "0".repeat(64), bytes: 1 };
    await expect(open().get(wanted, "", signal)).rejects.toMatchObject({
      code: "blob_unavailable",
    });
    expect(requests).toHaveLength(4);
  });

  test("comes without a cache too.", async () => {
    const wanted = await serve(1, 10);
    expect((await open(null).get(wanted, "", signal)).length).toBe(10);
  });

  test("comes although the browser has no room left for the cache.", async () => {
    const full = { ...byteCache, put: () => Promise.reject(new Error("QuotaExceededError")) };
    const wanted = await serve(1, 10);
    expect((await open(full).get(wanted, "", signal)).length).toBe(10);
    expect(records.size).toBe(0);
  });
});

describe("A large blob", () => {
  const limit = 4 * LINKED_BYTES;

  test("comes by its link once, then from the cache.", async () => {
    const cache = open(byteCache, limit);
    const wanted = await serve(1, LINKED_BYTES);
    const linkUrl = `${urlOf(wanted.sha256)}/link`;
    served.set(linkUrl, [() => Response.json({ url: "https://cdn.example/blobs/a", until: 1 })]);
    const bytes = new Uint8Array(LINKED_BYTES).fill(1);
    served.set("https://cdn.example/blobs/a", [() => new Response(bytes)]);
    const first = await cache.get(wanted, "Device d:s", signal);
    expect(await cache.get(wanted, "Device d:s", signal)).toEqual(first);
    expect(requests).toEqual([`${linkUrl} Device d:s`, "https://cdn.example/blobs/a null"]);
  });

  test("comes from the server if its link gives other bytes.", async () => {
    const wanted = await serve(1, LINKED_BYTES);
    served.set(`${urlOf(wanted.sha256)}/link`, [() => Response.json({ url: "/blobs/a" })]);
    served.set("/blobs/a", [() => new Response(new Uint8Array(LINKED_BYTES))]);
    const bytes = await open(byteCache, limit).get(wanted, "Device d:s", signal);
    expect(bytes[0]).toBe(1);
    expect(stored.get(urlOf(wanted.sha256))?.[0]).toBe(1);
    expect(requests.at(-1)).toBe(`${urlOf(wanted.sha256)} Device d:s`);
  });
});

describe("A slow line", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** An answer that sends one byte after each of these pauses, and then no more. */
  function trickle(pauses: readonly number[], init: RequestInit): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        init.signal?.addEventListener("abort", () => controller.error(init.signal?.reason));
      },
      pull: async (controller) => {
        const ms = pauses[sent];
        sent += 1;
        if (ms === undefined) return new Promise(() => {});
        await new Promise((done) => setTimeout(done, ms));
        controller.enqueue(new Uint8Array([1]));
        if (sent === pauses.length && ended) controller.close();
      },
    });
    return new Response(body);
  }
  let sent: number;
  let ended: boolean;

  test("may take as long as it needs while bytes come.", async () => {
    [sent, ended] = [0, true];
    const wanted = await serve(1, 10);
    answerWith = (init) => trickle(Array(10).fill(SERVER_SILENCE_MS - 1), init);
    const bytes = open().get(wanted, "", signal);
    await vi.advanceTimersByTimeAsync(10 * SERVER_SILENCE_MS);
    expect([...(await bytes)]).toEqual(Array(10).fill(1));
    expect(requests).toHaveLength(1);
  });

  test("that falls silent is asked again.", async () => {
    [sent, ended] = [0, false];
    const wanted = await serve(1, 10);
    answerWith = (init) => trickle([1], init);
    const bytes = open().get(wanted, "", signal);
    await vi.advanceTimersByTimeAsync(SERVER_SILENCE_MS);
    expect(requests).toHaveLength(1);
    answerWith = null;
    await vi.advanceTimersByTimeAsync(1);
    expect([...(await bytes)]).toEqual(Array(10).fill(1));
    expect(requests).toHaveLength(2);
  });
});

describe("The bound", () => {
  test("is kept by dropping what was used longest ago.", async () => {
    const cache = open();
    const [a, b, c] = [await serve(1, 400), await serve(2, 400), await serve(3, 400)];
    await cache.get(a, "", signal);
    await cache.get(b, "", signal);
    await cache.get(a, "", signal);
    await cache.get(c, "", signal);
    expect(new Set(stored.keys())).toEqual(new Set([urlOf(a.sha256), urlOf(c.sha256)]));
    expect(new Set(records.keys())).toEqual(new Set([a.sha256, c.sha256]));
  });

  test("of the browser is kept, too.", async () => {
    const room = 900;
    const small: ByteCache = {
      ...byteCache,
      put: async (url, response) => {
        const bytes = new Uint8Array(await response.arrayBuffer());
        const used = [...stored.values()].reduce((sum, one) => sum + one.length, 0);
        if (used + bytes.length > room) throw new Error("QuotaExceededError");
        stored.set(url, bytes);
      },
    };
    const cache = open(small);
    const [a, b, c] = [await serve(1, 300), await serve(2, 300), await serve(3, 500)];
    for (const one of [a, b, a, c]) await cache.get(one, "", signal);
    expect(new Set(stored.keys())).toEqual(new Set([urlOf(a.sha256), urlOf(c.sha256)]));
    // Nothing is dropped for what is larger than all the room.
    quota = 940;
    const large = await serve(4, 950);
    expect((await cache.get(large, "", signal)).length).toBe(950);
    expect(new Set(records.keys())).toEqual(new Set([a.sha256, c.sha256]));
  });

  test("keeps out a blob that is larger than it.", async () => {
    const small = await serve(1, 400);
    const cache = open();
    await cache.get(small, "", signal);
    await cache.get(await serve(2, 1_001), "", signal);
    expect([...stored.keys()]).toEqual([urlOf(small.sha256)]);
  });
});

test("Says what it would fetch: each file once, and none that it keeps.", async () => {
  const [kept, wanted] = ["a".repeat(64), "b".repeat(64)];
  stored.set(urlOf(kept), new Uint8Array(5));
  const all = [
    { sha256: kept, bytes: 5 },
    { sha256: wanted, bytes: 7 },
    { sha256: wanted, bytes: 7 },
  ];
  expect(await open().missing(all)).toBe(7);
  expect(await open(null).missing(all)).toBe(12);
  expect(requests).toEqual([]);
});
