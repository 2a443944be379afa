// Rules about the source itself: shared memory only from a WebAssembly.Memory, headers.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
);
const source = (name: string) => readFileSync(`${root}${name}`, "utf8");

test("The sources are found.", () => {
  expect(files.length).toBeGreaterThan(8);
});

describe.each(files)("%s", (name) => {
  const text = source(name);

  test("takes shared memory from a WebAssembly.Memory, never from the global constructor", () => {
    expect(text).not.toMatch(/new SharedArrayBuffer|typeof SharedArrayBuffer/);
  });

  test("opens with what it is and which thread may use it", () => {
    const header = text.split("\n\n")[0] ?? "";
    expect(header).toMatch(/^\/\/ /);
    expect(header).toMatch(/thread|page/i);
  });
});
