// Tests which messages of the python thread the agent accepts, and how many.

import { describe, expect, test } from "vitest";
import { MOST_LINES_AT_END } from "../../python/output.ts";
import { Allowance, parseFromPython } from "./from_python.ts";

const report = { kind: "report" as const, attempt: 7, step: 0, value: 0.5 };
const call = { kind: "call" as const, attempt: 7, sequence: 1, method: "m", payload: "{}" };
const upload = {
  kind: "upload" as const,
  attempt: 7,
  sequence: 1,
  head: '{"of":"checkpoint","format":"tree","step":null}',
  bytes: new Uint8Array([1]),
};
const outcome = { kind: "outcome" as const, attempt: 7, outcome: "{}", runMs: 1 };

test.each([
  { kind: "loading", loaded: 1, total: 2 },
  { kind: "loaded", timings: { begun: 3, imported: 4.5 }, fetchedBytes: 10 },
  report,
  { kind: "log", attempt: 7, row: '{"step":0,"values":{"loss":0.5}}' },
  call,
  outcome,
  { kind: "progress", attempt: 7, count: 3 },
  upload,
  { kind: "output", attempt: 7, text: "epoch 1" },
  { kind: "crashed", code: "out_of_memory", message: "m" },
])("$kind is taken as it is", (message) => {
  expect(parseFromPython(message)).toEqual(message);
});

test.each([
  ["nothing", null],
  ["a text", "outcome"],
  ["an unknown kind", { kind: "dance" }],
  ["an attempt that is a text", { ...report, attempt: "7" }],
  ["an attempt that is no whole number", { ...report, attempt: 7.5 }],
  ["a row that is too long", { kind: "log", attempt: 7, row: " ".repeat(262_145) }],
  ["a step that is a text", { ...report, step: "0" }],
  ["a sequence of 0", { ...call, sequence: 0 }],
  ["a long name", { ...call, method: "m".repeat(257) }],
  ["long arguments", { ...call, payload: "x".repeat(65_537) }],
  ["an upload with a long head", { ...upload, head: "x".repeat(65_537) }],
  ["an upload without bytes", { ...upload, bytes: "x" }],
  ["an upload in shared memory", { ...upload, bytes: new Uint8Array(new SharedArrayBuffer(1)) }],
  ["a large upload", { ...upload, bytes: new Uint8Array(64 * 1024 * 1024 + 1) }],
  ["a long line", { kind: "output", attempt: 7, text: "x".repeat(2_001) }],
  ["a long outcome", { ...outcome, outcome: "x".repeat(262_145) }],
  ["an endless run", { ...outcome, runMs: Number.POSITIVE_INFINITY }],
  ["a code that is a sentence", { kind: "crashed", code: "Not a code.", message: "m" }],
  [
    "many timings",
    {
      kind: "loaded",
      timings: Object.fromEntries([...Array(33)].map((_, i) => [i, i])),
      fetchedBytes: 0,
    },
  ],
])("%s is not", (_, message) => {
  expect(parseFromPython(message)).toBeNull();
});

test("Fields that nobody asked for do not go further.", () => {
  expect(parseFromPython({ ...report, device: "another" })).toEqual(report);
});

describe("An allowance", () => {
  test("lets as many points through as the thread's own window does.", () => {
    const allowance = new Allowance();
    const admitted = () => allowance.admits(report, 0);
    for (let i = 0; i < 4_096; i += 1) expect(admitted()).toBe(true);
    allowance.setTaken(10);
    for (let i = 0; i < 10; i += 1) expect(admitted()).toBe(true);
    expect(admitted()).toBe(false);
  });

  test("lets a call through when the one before was answered, or given up.", () => {
    const allowance = new Allowance();
    const admitted = (sequence: number, now: number) =>
      allowance.admits({ ...call, sequence }, now);
    expect(admitted(1, 0)).toBe(true);
    allowance.setAnswered(1);
    expect(admitted(2, 0)).toBe(true);
    allowance.setAnswered(1);
    expect(admitted(3, 114_999)).toBe(false);
    expect(admitted(3, 120_000)).toBe(true);
  });

  test("lets an upload through when no call is open.", () => {
    const allowance = new Allowance();
    const save = (sequence: number) => ({ ...upload, sequence });
    expect(allowance.admits(save(1), 0)).toBe(true);
    expect(allowance.admits({ ...call, sequence: 2 }, 120_000)).toBe(false);
    allowance.setAnswered(1);
    expect(allowance.admits(save(3), 0)).toBe(true);
  });

  test("lets as many lines through as the thread's own bound does.", () => {
    const allowance = new Allowance();
    const line = { kind: "output" as const, attempt: 7, text: "x" };
    let admitted = 0;
    while (allowance.admits(line, 5_000)) admitted += 1;
    expect(admitted).toBe(1_000 + MOST_LINES_AT_END);
    expect(allowance.admits(line, 6_000)).toBe(true);
  });
});

describe("progress that is told by messages", () => {
  const progress = { kind: "progress" as const, attempt: 7, count: 1 };

  test("is taken once a second for ever", () => {
    const allowance = new Allowance();
    const admitted = Array.from({ length: 3_600 }, (_, i) => allowance.admits(progress, i * 1_000));
    expect(admitted).not.toContain(false);
  });

  test("may come in one go after a pause", () => {
    const allowance = new Allowance();
    expect(allowance.admits(progress, 0)).toBe(true);
    for (let i = 0; i < 60; i += 1) expect(allowance.admits(progress, 60_000)).toBe(true);
  });

  test("is no flood", () => {
    const allowance = new Allowance();
    const admitted = Array.from({ length: 1_000 }, (_, i) => allowance.admits(progress, i));
    expect(admitted.lastIndexOf(true)).toBeLessThan(20);
  });
});

describe("what array-core has for the gpu thread", () => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const open = (change: object = {}) => ({
    kind: "gpu",
    message: { kind: "open", memory, controlAddress: 256, ...change },
  });

  test("is a ring in shared memory, or a word to wake it", () => {
    expect(parseFromPython(open())).toEqual(open());
    expect(parseFromPython({ kind: "gpu", message: { kind: "wake" } })).not.toBeNull();
    expect(parseFromPython(open({ limits: { maxBufferBytes: 1 } }))).toEqual(open());
  });

  test.each([
    ["memory that is not shared", { memory: new WebAssembly.Memory({ initial: 1 }) }],
    ["what is no memory", { memory: { buffer: new SharedArrayBuffer(65_536) } }],
    ["an odd address", { controlAddress: 257 }],
    ["an address near the memory's end", { controlAddress: 65_536 - 4 }],
    ["an address beyond it", { controlAddress: 2 ** 40 }],
    ["a negative address", { controlAddress: -4 }],
    ["another kind", { kind: "close" }],
  ])("is not %s", (_, change) => {
    expect(parseFromPython(open(change))).toBeNull();
  });

  test("is no flood", () => {
    const rings = new Allowance();
    const ring = parseFromPython(open());
    const wake = parseFromPython({ kind: "gpu", message: { kind: "wake" } });
    if (ring === null || wake === null) throw new Error("They are messages.");
    const admitted = Array.from({ length: 100 }, (_, i) => rings.admits(ring, i * 1e6));
    expect(admitted.lastIndexOf(true)).toBe(63);
    const wakes = Array.from({ length: 2_000 }, () => rings.admits(wake, 0));
    expect(wakes.lastIndexOf(true)).toBe(999);
    expect(rings.admits(wake, 1_000)).toBe(true);
  });
});
