// Tests the loader of array-core: what it requires of the engine, and how it handles other modules and engines. The
// tests of array-core's Python package test the module itself.

import { afterEach, expect, test, vi } from "vitest";
import { createMemory, loadArraycore, textAt } from "./arraycore_module.ts";

const MIB = 1_048_576;

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Stubs an engine that grants at most `limit` bytes. Returns the sizes that are requested, in MiB. */
function engineWith(limit: number): number[] {
  const asked: number[] = [];
  class Memory {
    readonly maximum: number;
    constructor({ maximum }: { maximum: number }) {
      asked.push((maximum * 65_536) / MIB);
      if (maximum * 65_536 > limit) throw new RangeError("could not allocate memory");
      this.maximum = maximum;
    }
  }
  vi.stubGlobal("WebAssembly", { ...WebAssembly, Memory });
  return asked;
}

test("The memory is shared and starts small.", () => {
  const memory = createMemory();
  expect(memory.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(memory.buffer.byteLength).toBe(16 * MIB);
});

test("Where an engine refuses a large maximum, smaller ones are tried in turn.", () => {
  const asked = engineWith(600 * MIB);
  createMemory();
  expect(asked).toEqual([2048, 1024, 512]);
});

test("An engine that grants nothing gives one sentence with its reason.", () => {
  engineWith(0);
  expect(() => createMemory()).toThrow(/no shared memory of 16 MiB.*could not allocate memory/);
});

test("A given maximum is the memory's own, and growth stops there.", () => {
  const memory = createMemory(20 * MIB);
  expect(memory.grow(64)).toBe(256);
  expect(() => memory.grow(1)).toThrow(RangeError);
});

test("A maximum below what the module needs is refused.", () => {
  expect(() => createMemory(8 * MIB)).toThrow(/no shared memory/);
});

test("Texts end at their zero byte.", () => {
  const memory = createMemory();
  new Uint8Array(memory.buffer).set(new TextEncoder().encode("größer\0rest"), 100);
  expect(textAt(memory, 100)).toBe("größer");
});

test("A module of another interface is refused by both numbers.", async () => {
  await expect(loadArraycore(moduleOf({ version: 99 }))).rejects.toMatchObject({
    code: "module_mismatch",
    message: "arraycore.wasm has interface 99, this loader is for 2.",
  });
});

test("An import that nobody expected is there, and throws its name when it is called.", async () => {
  await expect(loadArraycore(moduleOf({ version: 2 }))).resolves.toBeDefined();
  await expect(loadArraycore(moduleOf({ version: 2, callsMystery: true }))).rejects.toMatchObject({
    code: "aborted",
    message: "array-core called mystery, which is not there.",
  });
});

/** Builds a module with the memory of array-core, one unknown import, and the two functions that the loader calls. */
function moduleOf(options: { version: number; callsMystery?: boolean }): Uint8Array<ArrayBuffer> {
  const text = (value: string) => [value.length, ...new TextEncoder().encode(value)];
  const leb = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)];
  const section = (id: number, items: number[][]) => {
    const body = [...leb(items.length), ...items.flat()];
    return [id, ...leb(body.length), ...body];
  };
  const code = (instructions: number[]) => [instructions.length + 2, 0, ...instructions, 0x0b];
  // i32.const takes a signed number. The second byte keeps the values 64 to 127 from being negative.
  const constant = [0x41, (options.version & 127) | 128, options.version >> 7];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [
      [0x60, 0, 0],
      [0x60, 0, 1, 0x7f],
    ]),
    ...section(2, [
      [...text("env"), ...text("memory"), 2, 3, ...leb(256), ...leb(32_768)],
      [...text("env"), ...text("mystery"), 0, 0],
    ]),
    ...section(3, [[0], [1]]),
    ...section(7, [
      [...text("_initialize"), 0, 1],
      [...text("ac_interface_version"), 0, 2],
    ]),
    ...section(10, [code(options.callsMystery ? [0x10, 0] : []), code(constant)]),
  ]);
}
