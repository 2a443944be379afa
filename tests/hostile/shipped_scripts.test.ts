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

test("The code of WebGL2 is a script of its own, and no visit keeps or fetches it before it is wanted.", () => {
  const own = scripts.filter((script) => script.startsWith("webgl2_open-"));
  expect(own).toHaveLength(1);
  const draws = (text: string) => text.includes("texelFetch");
  const drawing = scripts.filter((name) => draws(readFileSync(join(FOLDER, name), "utf8")));
  // The page that runs trials without a server has the same script in its own folder.
  expect(drawing.filter((name) => !name.startsWith("local/"))).toEqual(own);
  expect(readFileSync(join(FOLDER, "../sw.js"), "utf8")).not.toContain("webgl2");
});

describe.each(scripts)("%s", (name) => {
  test("makes no code of text", () => {
    expect(readFileSync(join(FOLDER, name), "utf8")).not.toMatch(MAKES_CODE);
  });
});
