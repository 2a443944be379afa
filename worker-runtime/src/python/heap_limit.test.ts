// Tests the limit of Python's heap.

import { afterAll, beforeAll, expect, test } from "vitest";
import { limitHeap } from "./heap_limit.ts";

const MIB = 1_048_576;
const own = Object.getOwnPropertyDescriptor(WebAssembly.Memory.prototype, "grow");
class Memory extends WebAssembly.Memory {}

beforeAll(() => {
  // The limit is set on a derived class, because it cannot be removed.
  Object.defineProperty(Memory.prototype, "grow", { ...own, configurable: true });
  const Real = WebAssembly.Memory;
  WebAssembly.Memory = Memory;
  limitHeap(4 * MIB);
  WebAssembly.Memory = Real;
});

afterAll(() => {
  expect(new WebAssembly.Memory({ initial: 64 }).grow(64)).toBe(64);
});

test("A memory grows up to the ceiling, and keeps what it has beyond.", () => {
  const memory = new Memory({ initial: 16 });
  expect(memory.grow(48)).toBe(16);
  expect(() => memory.grow(1)).toThrow(RangeError);
  expect(memory.buffer.byteLength).toBe(4 * MIB);
});

test("The ceiling cannot be lifted.", () => {
  expect(Reflect.set(Memory.prototype, "grow", own?.value)).toBe(false);
  expect(Reflect.deleteProperty(Memory.prototype, "grow")).toBe(false);
});
