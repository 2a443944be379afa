// Prints of trial code, bounded.

import { expect, test } from "vitest";
import { Output } from "./output.ts";

test("Fifty lines a second pass; the rest is counted.", () => {
  const lines: string[] = [];
  let now = 0;
  const output = new Output(
    (line) => lines.push(line),
    () => now,
  );
  for (let i = 0; i < 60; i += 1) output.line(`${i}`);
  expect(lines).toHaveLength(50);
  now = 1_000;
  output.line("x".repeat(5_000));
  expect(lines.slice(50)).toEqual(["[10 lines left out]", "x".repeat(2_000)]);
});

test("A stream's bytes become lines; a line without an end is cut, and shown once it ends.", () => {
  const lines: string[] = [];
  const output = new Output(
    (line) => lines.push(line),
    () => 0,
  );
  const write = output.stream();
  const bytes = new TextEncoder().encode("one\ntw\u00f6\n\nrest");
  for (const byte of bytes) expect(write(Uint8Array.of(byte))).toBe(1);
  expect(lines).toEqual(["one", "tw\u00f6", ""]);
  for (let i = 0; i < 100; i += 1) write(new Uint8Array(1_000).fill(0x78));
  write(Uint8Array.of(10));
  expect(lines.at(-1)).toBe(`rest${"x".repeat(1_996)}`);
});

test("The console of trial code is bounded as its prints are.", () => {
  const lines: string[] = [];
  const output = new Output(
    (line) => lines.push(line),
    () => 0,
  );
  const console = output.console();
  console.log?.("a", 1, { toString: () => "b" });
  for (let i = 0; i < 100; i += 1) console.error?.(i);
  expect(lines).toHaveLength(50);
  expect(lines[0]).toBe("a 1 b");
});
