// Tests that data come by a link if all goes well, and otherwise from the server, soon and with the right bytes.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import { type DataWanted, LINKED_BYTES, LinkedData, REST_MS, SILENCE_MS } from "./linked_data.ts";

const CDN = "https://cdn.example/blobs/1/2/3/4";
const bytes = new Uint8Array(LINKED_BYTES).fill(7);
const signal = new AbortController().signal;

let wanted: DataWanted;
let requests: { url: string; init: RequestInit }[];
let answers: ((init: RequestInit) => Response | Promise<Response>)[];
let clock: number;

const linkAnswer = () => Response.json({ url: CDN, until: 1 });

function open(): LinkedData {
  return new LinkedData({
    fetch: async (url, init) => {
      requests.push({ url, init });
      const answer = answers.shift();
      if (answer === undefined) throw new TypeError("Failed to fetch");
      return answer(init);
    },
    wallClock: () => clock,
  });
}

beforeEach(async () => {
  wanted = { sha256: await sha256Hex(bytes), bytes: bytes.length };
  requests = [];
  answers = [];
  clock = 1_000_000_000_000;
});

describe("Data", () => {
  test("come by a link, which gets no credential.", async () => {
    answers = [linkAnswer, () => new Response(bytes)];
    expect(await open().get(wanted, "Device d:s", signal)).toEqual(bytes);
    expect(requests.map(({ url }) => url)).toEqual([`/api/blobs/${wanted.sha256}/link`, CDN]);
    expect(new Headers(requests[0]?.init.headers).get("authorization")).toBe("Device d:s");
    expect(requests[1]?.init.headers).toBeUndefined();
    expect(requests[1]?.init.credentials).toBe("omit");
    expect(requests[1]?.init.cache).toBe("default");
  });

  test("that are small need no link.", async () => {
    expect(await open().get({ ...wanted, bytes: LINKED_BYTES - 1 }, "", signal)).toBeNull();
    expect(requests).toEqual([]);
  });

  const away = () => Promise.reject(new TypeError("Failed to fetch"));
  const cases: [string, (typeof answers)[number][]][] = [
    ["the server knows no links", [() => new Response(null, { status: 404 })]],
    ["the server is away", [away]],
    ["the link cannot be read", [() => new Response("<html>")]],
    ["the answer has no link", [() => Response.json({ link: CDN })]],
    ["the cache is away or blocked", [linkAnswer, away]],
    ["the link has expired", [linkAnswer, () => new Response(null, { status: 410 })]],
    ["the answer is empty", [linkAnswer, () => new Response(null)]],
    ["the bytes are others", [linkAnswer, () => new Response(new Uint8Array(bytes.length))]],
    ["there are too few bytes", [linkAnswer, () => new Response(bytes.subarray(1))]],
    [
      "there are too many bytes",
      [linkAnswer, () => new Response(new Uint8Array(2 * bytes.length))],
    ],
  ];
  test.each(cases)("come from the server if %s, and for a while then.", async (_, failing) => {
    answers = [...failing];
    const linked = open();
    expect(await linked.get(wanted, "", signal)).toBeNull();
    expect(answers).toEqual([]);
    const asked = requests.length;
    clock += REST_MS - 1;
    expect(await linked.get(wanted, "", signal)).toBeNull();
    expect(requests).toHaveLength(asked);
    clock += 1;
    answers = [linkAnswer, () => new Response(bytes)];
    expect(await linked.get(wanted, "", signal)).toEqual(bytes);
  });
});

describe("A body without an end", () => {
  test("is left when it is longer than the data.", async () => {
    let pulls = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulls += 1;
        controller.enqueue(new Uint8Array(LINKED_BYTES / 2));
      },
    });
    answers = [linkAnswer, () => new Response(endless)];
    expect(await open().get(wanted, "", signal)).toBeNull();
    expect(pulls).toBeLessThan(8);
  });
});

describe("Silence", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const untilAborted = (init: RequestInit) =>
    new Promise<never>((_, reject) => {
      init.signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    });

  test("before an answer ends the use of the link.", async () => {
    answers = [linkAnswer, untilAborted];
    const got = open().get(wanted, "", signal);
    await vi.advanceTimersByTimeAsync(SILENCE_MS);
    expect(await got).toBeNull();
  });

  test("within an answer ends it, and slow bytes do not.", async () => {
    let tube: ReadableStreamDefaultController<Uint8Array> | undefined;
    const slow = (init: RequestInit) => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          tube = controller;
          init.signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
        },
      });
      return new Response(body);
    };
    answers = [linkAnswer, slow];
    let ended = false;
    const got = open()
      .get(wanted, "", signal)
      .finally(() => {
        ended = true;
      });
    for (let i = 0; i < 5; i += 1) {
      await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
      tube?.enqueue(bytes.subarray(i, i + 1));
    }
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(SILENCE_MS);
    expect(await got).toBeNull();
  });
});

test("A trial that ends while its data come gets the reason, and links stay in use.", async () => {
  const trial = new AbortController();
  answers = [
    linkAnswer,
    () => {
      trial.abort();
      return Promise.reject(new DOMException("", "AbortError"));
    },
  ];
  const linked = open();
  await expect(linked.get(wanted, "", trial.signal)).rejects.toMatchObject({ name: "AbortError" });
  answers = [linkAnswer, () => new Response(bytes)];
  expect(await linked.get(wanted, "", signal)).toEqual(bytes);
});
