import { expect, test } from "vitest";
import { INTERRUPT_SIGNAL } from "../channel/block.ts";
import { InterruptBuffer } from "./interrupt_buffer.ts";

/** Reads and clears the buffer as CPython does (Python/emscripten_signal.c). `between` runs after the read. */
function check(buffer: { 0: number }, between: () => void): number {
  const signal = buffer[0];
  between();
  buffer[0] = 0;
  return signal;
}

test("a signal that arrives between Python's read and its write is not lost", () => {
  const bytes = new Uint8Array(new SharedArrayBuffer(1));
  const buffer = new InterruptBuffer(bytes);
  expect(check(buffer, () => Atomics.store(bytes, 0, INTERRUPT_SIGNAL))).toBe(0);
  expect(check(buffer, () => {})).toBe(INTERRUPT_SIGNAL);
  expect(check(buffer, () => {})).toBe(0);
});

test("a plain array loses such a signal", () => {
  const bytes = new Uint8Array(new SharedArrayBuffer(1));
  expect(check(bytes as unknown as { 0: number }, () => Atomics.store(bytes, 0, 2))).toBe(0);
  expect(check(bytes as unknown as { 0: number }, () => {})).toBe(0);
});

test("a signal that was only looked at stays", () => {
  const buffer = new InterruptBuffer(new Uint8Array(1));
  buffer.raise();
  expect(buffer[0]).toBe(INTERRUPT_SIGNAL);
  expect(buffer[0]).toBe(INTERRUPT_SIGNAL);
  expect(buffer.take()).toBe(true);
  expect(buffer.take()).toBe(false);
});

test("a signal that was read and cleared comes once, even if it was stored twice", () => {
  const buffer = new InterruptBuffer(new Uint8Array(1));
  buffer.raise();
  expect(check(buffer, () => buffer.raise())).toBe(INTERRUPT_SIGNAL);
  expect(buffer.take()).toBe(false);
});
