// Tests rules about the sources: how shared memory is made, file headers, and which folder may import from which.

import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
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

/** The folders, the lowest first. A file imports only from its own folder and from those before it. */
const LAYERS = [
  "base",
  "platform",
  "protocol",
  "governor",
  "page_contract",
  "channel",
  "gpu/ring",
  "gpu/webgpu",
  "gpu/webgl2",
  "gpu/thread",
  "python/arraycore",
  "python",
  "python/script",
  "agent/machine",
  "agent/files",
  "agent/device",
  "agent/python_host",
  "agent",
  "local_run",
  "page",
];

/**
 * Returns each import of a source file, and each `new URL("….ts")` that names a worker's file, as [folder of
 * the importing file, folder of the imported file, "A imports B" for a failure message].
 */
function arrows(): [string, string, string][] {
  const product = files.filter((name) => !/\.fixture\.ts$|\/testing\//.test(name));
  return product.flatMap((name) =>
    [...source(name).matchAll(/(?:from|import\(|new URL\()\s*"(\.[^"]+\.ts)"/g)].map(
      ([, path = ""]): [string, string, string] => {
        const target = posix.normalize(posix.join(posix.dirname(name), path));
        return [posix.dirname(name), posix.dirname(target), `${name} imports ${target}`];
      },
    ),
  );
}

test("Every folder is in the order of layers, and no import goes up.", () => {
  const found = arrows();
  expect(found.length).toBeGreaterThan(100);
  const folders = new Set(found.flatMap((arrow) => arrow.slice(0, 2)));
  expect([...folders].filter((folder) => !LAYERS.includes(folder))).toEqual([]);
  const upward = found.filter(([from, to]) => LAYERS.indexOf(to) > LAYERS.indexOf(from));
  expect(upward.map(([, , where]) => where)).toEqual([]);
});
