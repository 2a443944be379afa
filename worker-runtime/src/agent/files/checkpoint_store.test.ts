// Tests what a device keeps of its checkpoints, on storage that is full, refuses, or loses them. (The database itself is in
// tests/e2e/interruptions.test.ts.)

import { beforeEach, expect, test } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import type { KeptCheckpoint } from "../machine/kept_checkpoint.ts";
import { CheckpointStore, type Head, KEPT_MS, type Shelf } from "./checkpoint_store.ts";

class FakeShelf implements Shelf {
  stored: { head: Head; content: unknown } | null = null;
  room = 100;
  refuses = false;

  #ask(): void {
    if (this.refuses) throw new DOMException("", "InvalidStateError");
  }
  async head() {
    this.#ask();
    return structuredClone(this.stored?.head);
  }
  async bytes() {
    this.#ask();
    return structuredClone(this.stored?.content);
  }
  async put(head: Head, bytes: Uint8Array<ArrayBuffer>) {
    this.#ask();
    if (bytes.length > this.room) throw new DOMException("", "QuotaExceededError");
    this.stored = structuredClone({ head, content: bytes });
  }
  async remove(isGone: (head: Head | undefined) => boolean) {
    this.#ask();
    if (isGone(this.stored?.head)) this.stored = null;
  }
}

let shelf: FakeShelf;
let now: number;
let store: CheckpointStore;
const visit = () => new CheckpointStore(shelf, () => now);

beforeEach(() => {
  shelf = new FakeShelf();
  now = 1_000;
  store = visit();
});

async function checkpoint(length: number): Promise<[KeptCheckpoint, Uint8Array<ArrayBuffer>]> {
  const bytes = new Uint8Array(length).fill(length);
  const sha256 = await sha256Hex(bytes);
  const of = { study: 3, trial: 1, bundle: "b".repeat(64), attempt: 7, sha256 };
  const bases = [
    { sha256: null, points: 0, rows: 0 },
    { sha256, points: 1, rows: 0 },
  ];
  const kept: KeptCheckpoint = {
    ...of,
    format: "tree",
    step: 1,
    logged: null,
    points: [[1, 0.5]],
    rows: [],
    bases,
  };
  return [kept, bytes];
}

test("The newest checkpoint is what the next visit finds.", async () => {
  const [kept, bytes] = await checkpoint(2);
  await store.keep(...(await checkpoint(1)));
  await store.keep(kept, bytes);
  expect(await visit().find()).toEqual(kept);
  expect(await visit().read(kept.sha256)).toEqual(bytes);
});

test("Saves that come while one is written are not all written.", async () => {
  const [one, two, three] = [await checkpoint(1), await checkpoint(2), await checkpoint(3)];
  const writes = [store.keep(...one), store.keep(...two), store.keep(...three)];
  expect(await store.read(three[0].sha256)).toEqual(three[1]);
  await Promise.all(writes);
  expect(await visit().find()).toEqual(three[0]);
});

test("Without room this visit has it in memory, and the device keeps the one before.", async () => {
  const [small, large] = [await checkpoint(50), await checkpoint(101)];
  await store.keep(...small);
  await store.keep(...large);
  const read = await store.read(large[0].sha256);
  expect(read).toEqual(large[1]);
  expect(read?.buffer).not.toBe(large[1].buffer);
  expect(await visit().find()).toEqual(small[0]);
  expect(await visit().read(large[0].sha256)).toBeNull();
});

test("A browser that refuses storage has it for this visit only.", async () => {
  shelf.refuses = true;
  const [kept, bytes] = await checkpoint(5);
  await store.keep(kept, bytes);
  expect(await store.find()).toBeNull();
  expect(await store.read(kept.sha256)).toEqual(bytes);
  await store.forget(kept.sha256);
  expect(await store.read(kept.sha256)).toBeNull();
});

test("Bytes that the browser has removed or changed are not there.", async () => {
  const [kept, bytes] = await checkpoint(5);
  await store.keep(kept, bytes);
  for (const content of [undefined, "text", new Uint8Array([1]), new Uint8Array(0)]) {
    if (shelf.stored !== null) shelf.stored.content = content;
    expect(await visit().read(kept.sha256)).toBeNull();
  }
});

test("It is forgotten by its own hash, so that another tab's stays.", async () => {
  const [mine, other] = [await checkpoint(5), await checkpoint(6)];
  await store.keep(...mine);
  await visit().keep(...other);
  await store.forget(mine[0].sha256);
  expect(await visit().find()).toEqual(other[0]);
  await store.forget(other[0].sha256);
  expect(await visit().find()).toBeNull();
});

test("One that is old, or cannot be read, is removed.", async () => {
  await store.keep(...(await checkpoint(5)));
  now += KEPT_MS - 1;
  expect(await visit().find()).not.toBeNull();
  now += 1;
  expect(await visit().find()).toBeNull();
  expect(shelf.stored).toBeNull();
  shelf.stored = { head: { kept: { study: "x" }, savedAt: now }, content: new Uint8Array(1) };
  expect(await visit().find()).toBeNull();
  expect(shelf.stored).toBeNull();
});

test("64 MiB are kept like a small one.", async () => {
  shelf.room = 64 * 1024 * 1024;
  const [kept, bytes] = await checkpoint(64 * 1024 * 1024);
  await store.keep(kept, bytes);
  expect((await visit().read(kept.sha256))?.length).toBe(bytes.length);
});
