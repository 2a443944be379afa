// Tests that array-core's files are loaded once, and that the gpu thread starts and ends with the python thread.

import { beforeEach, describe, expect, test } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import { RingWriter } from "../../gpu/testing/ring_writer.fixture.ts";
import type { ToGpuThread } from "../../gpu/thread/gpu_messages.ts";
import type { GpuWorkerEvents } from "../../gpu/thread/gpu_owner.ts";
import type { RuntimeIndex } from "../../python/messages.ts";
import { fetchArraycore, moduleFile } from "../files/arraycore_parts.ts";
import type { RuntimeUnavailableError } from "../files/runtime_files.ts";
import { ArraycoreSide } from "./arraycore_side.ts";

const ARCHIVE = new Uint8Array([1, 2, 3]);
/** The bytes of a WebAssembly module without content. */
const MODULE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);

let served: Map<string, Uint8Array<ArrayBuffer>>;
let asked: string[];
let index: RuntimeIndex;

beforeEach(async () => {
  asked = [];
  const files = { "arraycore.zip": ARCHIVE, [moduleFile()]: MODULE };
  served = new Map(Object.entries(files).map(([name, bytes]) => [`/runtime/a-1/${name}`, bytes]));
  const listed = await Promise.all(
    Object.entries(files).map(async ([name, bytes]) => ({
      name,
      sha256: await sha256Hex(bytes),
      bytes: bytes.length,
    })),
  );
  index = {
    runtime: "r",
    pieces: { arraycore: { version: "1", base: "/runtime/a-1/", files: listed } },
  };
});

const fetchParts = (tell: (loaded: number, total: number) => void = () => {}) =>
  fetchArraycore(index, {
    fetch: async (url) => {
      asked.push(url);
      const bytes = served.get(url);
      return new Response(bytes ?? null, { status: bytes === undefined ? 404 : 200 });
    },
    compile: (bytes) => WebAssembly.compile(bytes),
    tell,
  });

describe("fetchArraycore", () => {
  test("The engine's module and the package, each byte counted.", async () => {
    const told: (readonly [number, number])[] = [];
    const parts = await fetchParts((loaded, total) => told.push([loaded, total]));
    expect(parts.archive).toEqual(ARCHIVE);
    expect(parts.module).toBeInstanceOf(WebAssembly.Module);
    expect(told.at(-1)).toEqual([11, 11]);
    expect(asked.sort()).toEqual([...served.keys()].sort());
  });

  test.each([
    [
      "assets_unavailable",
      "is not what the runtime's index says",
      () => served.set("/runtime/a-1/arraycore.zip", new Uint8Array([9])),
    ],
    ["assets_unavailable", "answered 404", () => served.clear()],
    [
      "unknown_runtime",
      "has no arraycore",
      () => {
        index = { runtime: "r", pieces: {} };
      },
    ],
  ] as const)("%s: it %s.", async (code, why, spoil) => {
    spoil();
    const error = await fetchParts().catch((caught: RuntimeUnavailableError) => caught);
    expect(error).toMatchObject({ code, message: expect.stringContaining(why) });
  });
});

describe("ArraycoreSide", () => {
  function setUp() {
    const threads: { got: ToGpuThread[]; ended: boolean }[] = [];
    let fails = false;
    let fetches = 0;
    const side = new ArraycoreSide({
      fetchParts: (_index, tell) => {
        fetches += 1;
        return fails ? Promise.reject(new Error("away")) : fetchParts(tell);
      },
      offer: (wanted) => ({ wanted, backends: [], reasons: {}, software: false, budget_bytes: 0 }),
      spawnGpu: (_events: GpuWorkerEvents) => {
        const thread = { got: [] as ToGpuThread[], ended: false };
        threads.push(thread);
        return {
          post: (message) => thread.got.push(message),
          terminate: async () => {
            thread.ended = true;
          },
        };
      },
      log: () => {},
    });
    const ring = new RingWriter();
    const open = () =>
      side.receive({ kind: "open", memory: ring.memory, controlAddress: ring.controlAddress });
    return {
      side,
      threads,
      open,
      fetches: () => fetches,
      fail: (value: boolean) => {
        fails = value;
      },
    };
  }

  test("Parts are fetched once; what failed is tried again.", async () => {
    const { side, fetches, fail } = setUp();
    fail(true);
    await expect(side.parts(index, () => {})).rejects.toThrow("away");
    fail(false);
    const first = await side.parts(index, () => {});
    expect(await side.parts(index, () => {})).toBe(first);
    expect(fetches()).toBe(2);
  });

  test("The gpu thread begins with the first ring and ends with the python thread.", async () => {
    const { side, threads, open } = setUp();
    side.receive({ kind: "wake" });
    expect(threads).toHaveLength(0);
    open();
    side.receive({ kind: "wake" });
    expect(threads[0]?.got.map(({ kind }) => kind)).toEqual(["open", "wake"]);
    side.terminate();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(threads[0]?.ended).toBe(true);
    open();
    expect(threads).toHaveLength(2);
  });

  test("The volunteer's share goes with each ring, and at once to the one that is open.", () => {
    const { side, threads, open } = setUp();
    side.setShare(0.5);
    open();
    side.setShare(0.25);
    expect(threads[0]?.got).toMatchObject([
      { kind: "open", share: 0.5 },
      { kind: "share", share: 0.25 },
    ]);
  });
});
