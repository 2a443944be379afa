// Tests the detection of SIMD: an engine has it if it accepts a small module that uses it. Node has both kinds of SIMD.

import { expect, test } from "vitest";
import { hasRelaxedSimd, hasSimd } from "./simd.ts";

test.each([
  ["SIMD", hasSimd, [253, 98]],
  ["relaxed SIMD", hasRelaxedSimd, [253, 133, 2]],
])("An engine is asked for %s by a module that uses it.", async (_name, has, instruction) => {
  expect(has(WebAssembly)).toBe(true);
  const asked: Uint8Array<ArrayBuffer>[] = [];
  expect(has({ validate: (bytes) => asked.push(bytes) === 0 })).toBe(false);
  const [bytes = new Uint8Array()] = asked;
  expect([...bytes].join()).toContain(instruction.join());
  await expect(WebAssembly.compile(bytes)).resolves.toBeDefined();
});

test("An engine without WebAssembly has neither.", () => {
  expect([hasSimd(undefined), hasRelaxedSimd(undefined)]).toEqual([false, false]);
});
