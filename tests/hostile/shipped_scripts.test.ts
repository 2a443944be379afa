// Tests that the scripts which volunteers get never turn text into code, so their policies need no 'unsafe-eval'.
// Pyodide's own script has functions that turn text into code; the Python thread's policy blocks them (network.py).

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../e2e/stack.ts";

const FOLDER = join(ROOT, "build/web/app");
const MAKES_CODE =
  /\beval\s*\(|\bFunction\s*\(\s*["'`]|new Function\b|\bset(?:Timeout|Interval)\s*\(\s*["'`]/;
const scripts = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".js"),
);

test("Code that is made of text is recognised.", () => {
  for (const text of ["eval(x)", "new Function(x)", 'Function("return this")', "setTimeout('x')"]) {
    expect(text).toMatch(MAKES_CODE);
  }
});

test("The threads' scripts are there.", () => {
  const threads = ["agent-thread", "gpu-thread", "join", "python-thread", "local/page"];
  for (const name of threads) expect(scripts.some((script) => script.startsWith(name))).toBe(true);
});

test("The code of WebGL2 is a script of its own, which no visit keeps or fetches before it is wanted.", () => {
  const textOf = (name: string) => readFileSync(join(FOLDER, name), "utf8");
  const shipped = scripts.filter((name) => !name.startsWith("local/"));
  const drawing = shipped.filter((name) => textOf(name).includes("texelFetch"));
  expect(drawing).toEqual([expect.stringMatching(/^webgl2_open-/)]);
  expect(shipped.filter((name) => name.startsWith("webgl2_probe-"))).toHaveLength(1);
  expect(readFileSync(join(FOLDER, "../sw.js"), "utf8")).not.toContain("webgl2");
});

describe.each(scripts)("%s", (name) => {
  test("makes no code of text", () => {
    expect(readFileSync(join(FOLDER, name), "utf8")).not.toMatch(MAKES_CODE);
  });
});
