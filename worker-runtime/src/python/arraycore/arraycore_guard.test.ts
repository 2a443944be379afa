import { expect, test } from "vitest";
import { guarded } from "./arraycore_guard.ts";

// (module (memory (export "memory") 1)
//   (func (export "trap") unreachable) (func (export "add") (param i32 i32) (result i32) ...))
const CODE = Uint8Array.from([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...[1, 10, 2, 0x60, 0, 0, 0x60, 2, 0x7f, 0x7f, 1, 0x7f],
  ...[3, 3, 2, 0, 1],
  ...[5, 3, 1, 0, 1],
  ...[7, 23, 3, 6, ...new TextEncoder().encode("memory"), 2, 0],
  ...[4, ...new TextEncoder().encode("trap"), 0, 0],
  ...[3, ...new TextEncoder().encode("add"), 0, 1],
  ...[10, 13, 2, 3, 0, 0, 0x0b, 7, 0, 0x20, 0, 0x20, 1, 0x6a, 0x0b],
]);

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly trap: () => void;
  readonly add: (a: number, b: number) => number;
}

let told = 0;

async function instance(): Promise<Exports> {
  told = 0;
  const { instance: made } = await WebAssembly.instantiate(CODE);
  return guarded(
    made.exports as unknown as Exports,
    (cause) => new Error(`ended: ${String(cause)}`),
    () => {
      told += 1;
    },
  );
}

test("Exports are what they were until one traps.", async () => {
  const { memory, add } = await instance();
  expect(memory).toBeInstanceOf(WebAssembly.Memory);
  expect(add(2, 40)).toBe(42);
  expect(told).toBe(0);
});

test("A trap is told once; that call and every later one names it, and the instance is not entered.", async () => {
  const { trap, add } = await instance();
  expect(() => trap()).toThrow(/^ended: RuntimeError: unreachable/);
  expect(() => add(2, 40)).toThrow(/^ended: RuntimeError: unreachable/);
  expect(() => trap()).toThrow(/^ended: /);
  expect(told).toBe(1);
});

test("What an import throws ends the instance as well.", () => {
  const exports = guarded(
    {
      call: () => {
        throw new TypeError("no");
      },
      other: () => 1,
    },
    (cause) => new Error(`ended: ${String(cause)}`),
  );
  expect(() => exports.call()).toThrow("ended: TypeError: no");
  expect(() => exports.other()).toThrow("ended: TypeError: no");
});
