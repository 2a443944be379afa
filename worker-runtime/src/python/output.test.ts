// Tests the output of trial code, and its limits.

import { beforeEach, expect, test } from "vitest";
import { MOST_LINES_AT_END, MOST_LINES_PER_SECOND, Output } from "./output.ts";

let lines: string[];
let now: number;
let output: Output;

beforeEach(() => {
  lines = [];
  now = 0;
  output = new Output(
    (line) => lines.push(line),
    () => now,
  );
});

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${from + i}`);

test("Fifty lines a second pass; the rest waits for the next one.", () => {
  for (const line of numbers(0, 60)) output.line(line);
  expect(lines).toEqual(numbers(0, 50));
  now = 1_000;
  output.line("x".repeat(5_000));
  expect(lines.slice(50)).toEqual([...numbers(50, 60), "x".repeat(2_000)]);
});

test("The last lines of a burst are there when the trial ends.", () => {
  for (const line of [...numbers(0, 120), "FINAL"]) output.line(line);
  output.flush();
  expect(lines).toEqual([...numbers(0, 120), "FINAL"]);
  output.flush();
  expect(lines).toHaveLength(121);
});

test("Of a long burst the newest thousand lines wait, and the others between are counted.", () => {
  for (const line of numbers(0, 5_000)) output.line(line);
  output.flush();
  expect(lines).toEqual([...numbers(0, 50), "[3950 lines left out]", ...numbers(4_000, 5_000)]);
});

test("Long lines that wait are no more than the server keeps.", () => {
  for (let i = 0; i < 1_000; i += 1) output.line(`${i} ${"x".repeat(2_000)}`);
  lines = [];
  output.flush();
  expect(lines[0]).toBe("[885 lines left out]");
  expect(lines.slice(1).map((line) => line.split(" ")[0])).toEqual(numbers(935, 1_000));
});

test("A flood passes as slowly, in its order, and says each time what was left out.", () => {
  for (let i = 0; i < 30_000; i += 1) {
    now = i;
    if (i % 1_000 === 0) lines = [];
    output.line(`${i}`);
    expect(lines.length).toBeLessThanOrEqual(MOST_LINES_PER_SECOND);
  }
  expect(lines.slice(0, 2)).toEqual(["[950 lines left out]", "28000"]);
  lines = [];
  output.flush();
  expect(lines).toHaveLength(MOST_LINES_AT_END);
  expect(lines.at(-1)).toBe("29999");
});

test("Lines that wait go on when Python is heard of otherwise.", () => {
  for (const line of numbers(0, 60)) output.line(line);
  output.catchUp();
  expect(lines).toHaveLength(50);
  now = 1_000;
  output.catchUp();
  expect(lines).toEqual(numbers(0, 60));
});

test("A stream's bytes become lines; a line without an end is cut, and shown once it ends.", () => {
  const write = output.stream();
  const bytes = new TextEncoder().encode("one\ntw\u00f6\n\nrest");
  for (const byte of bytes) expect(write(Uint8Array.of(byte))).toBe(1);
  expect(lines).toEqual(["one", "tw\u00f6", ""]);
  for (let i = 0; i < 100; i += 1) write(new Uint8Array(1_000).fill(0x78));
  write(Uint8Array.of(10));
  expect(lines.at(-1)).toBe(`rest${"x".repeat(1_996)}`);
});

test("A line without an end is shown when the trial ends, and is not the next one's.", () => {
  const write = output.stream();
  const text = new TextEncoder();
  write(text.encode("no end"));
  expect(lines).toEqual([]);
  output.flush();
  write(text.encode("next\n"));
  expect(lines).toEqual(["no end", "next"]);
});

test("The console of trial code is bounded as its prints are.", () => {
  const console = output.console();
  console.log?.("a", 1, { toString: () => "b" });
  for (let i = 0; i < 100; i += 1) console.error?.(i);
  expect(lines).toHaveLength(50);
  expect(lines[0]).toBe("a 1 b");
});
