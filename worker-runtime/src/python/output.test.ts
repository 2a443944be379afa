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
