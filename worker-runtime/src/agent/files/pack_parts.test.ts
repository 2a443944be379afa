// Tests that packs come with what they need, verified by their hashes, and that what is missing is told.

import { expect, test } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import type { PackIndex, RuntimeIndex } from "../../python/messages.ts";
import { fetchPacks } from "./pack_parts.ts";

const bytes = new Uint8Array([1, 2, 3]);
const runtime: RuntimeIndex = {
  runtime: "r",
  pieces: { pyodide: { version: "314.0.3", base: "/runtime/pyodide-1/", files: [] } },
};

async function indexOf(needs: Record<string, string[]>): Promise<PackIndex> {
  const sha256 = await sha256Hex(bytes);
  const packs = Object.entries(needs).map(([name, needed]) => {
    const files = [{ name: `${name}.zip`, sha256, bytes: bytes.length }];
    return [name, { version: "1", base: `/runtime/${name}-1/`, files, needs: needed }] as const;
  });
  return { pyodide: "314.0.3", packs: Object.fromEntries(packs) };
}

const fetched: string[] = [];
const options = {
  fetch: async (url: string) => {
    fetched.push(url);
    return new Response(bytes);
  },
  tell: () => {},
};

test("A pack comes with all that it needs, each once.", async () => {
  const index = await indexOf({ a: ["b", "c"], b: ["c"], c: [], d: [] });
  fetched.length = 0;
  const archives = await fetchPacks(["a"], runtime, index, options);
  expect(archives).toEqual(["a", "b", "c"].map((name) => ({ name, version: "1", bytes })));
  expect(fetched.sort()).toEqual(["a", "b", "c"].map((name) => `/runtime/${name}-1/${name}.zip`));
});

test("What is named comes before what it needs.", async () => {
  const index = await indexOf({ a: [], b: [], y: ["a"], z: ["b", "y"] });
  const archives = await fetchPacks(["z", "y"], runtime, index, options);
  expect(archives.map(({ name }) => name)).toEqual(["z", "y", "b", "a"]);
});

test("A circle of needs ends.", async () => {
  const index = await indexOf({ a: ["b"], b: ["a"] });
  expect(await fetchPacks(["a", "a"], runtime, index, options)).toHaveLength(2);
});

test.each([
  ["an unknown pack", ["x"], "This server has no pack x."],
  ["a pack whose need is unknown", ["a"], "This server has no pack gone."],
  ["a name of every object", ["constructor"], "This server has no pack constructor."],
])("%s is told.", async (_, names, message) => {
  const index = await indexOf({ a: ["gone"] });
  const refused = { code: "unknown_runtime", message };
  await expect(fetchPacks(names, runtime, index, options)).rejects.toMatchObject(refused);
});

test("Packs of another Pyodide are not loaded.", async () => {
  const index = { ...(await indexOf({ a: [] })), pyodide: "315.0.0" };
  const refused = { code: "unknown_runtime", message: expect.stringContaining("315.0.0") };
  await expect(fetchPacks(["a"], runtime, index, options)).rejects.toMatchObject(refused);
});

test("A pack with another content is refused.", async () => {
  const index = await indexOf({ a: [] });
  const other = { ...options, fetch: async () => new Response(new Uint8Array([1, 2])) };
  const refused = { code: "assets_unavailable" };
  await expect(fetchPacks(["a"], runtime, index, other)).rejects.toMatchObject(refused);
});
