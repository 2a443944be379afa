// Rules about the source itself: no wait without an end, shared memory only from a WebAssembly.Memory.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
);
const source = (name: string) => readFileSync(`${root}${name}`, "utf8");

/** The number of arguments of each call of `callee` in `text`. */
function argumentCounts(text: string, callee: string): number[] {
  const counts: number[] = [];
  for (let at = text.indexOf(`${callee}(`); at >= 0; at = text.indexOf(`${callee}(`, at + 1)) {
    let depth = 0;
    let commas = 0;
    for (let i = at + callee.length; i < text.length; i += 1) {
      const c = text.charAt(i);
      if ("([{".includes(c)) depth += 1;
      if (")]}".includes(c)) depth -= 1;
      if (c === "," && depth === 1) commas += 1;
      if (depth === 0) break;
    }
    counts.push(commas + 1);
  }
  return counts;
}

test("The count of arguments is right.", () => {
  expect(argumentCounts("f(a, g(b, c), [d, e]); f(x)", "f")).toEqual([3, 1]);
});

test("The sources are found, and one of them waits.", () => {
  expect(files.length).toBeGreaterThan(8);
  expect(files.some((name) => source(name).includes("Atomics.wait("))).toBe(true);
});

describe.each(files)("%s", (name) => {
  const text = source(name);

  test("waits with a time-out only", () => {
    for (const count of argumentCounts(text, "Atomics.wait")) expect(count).toBe(4);
  });

  test("takes shared memory from a WebAssembly.Memory, never from the global constructor", () => {
    expect(text).not.toMatch(/new SharedArrayBuffer|typeof SharedArrayBuffer/);
  });

  test("opens with what it is and which thread may use it", () => {
    const header = text.split("\n\n")[0] ?? "";
    expect(header).toMatch(/^\/\/ /);
    expect(header).toMatch(/thread|page/i);
  });
});
