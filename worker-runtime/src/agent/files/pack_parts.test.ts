// Tests that packs come with what they need, verified by their hashes, and that what is missing is told.

import { expect, test } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import type { PackIndex, RuntimeIndex } from "../../python/messages.ts";
import { fetchPacks, missingBytes } from "./pack_parts.ts";

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
  const archives = await fetchPacks([{ name: "a" }], runtime, index, options);
  expect(archives).toEqual(["a", "b", "c"].map((name) => ({ name, version: "1", bytes })));
  expect(fetched.sort()).toEqual(["a", "b", "c"].map((name) => `/runtime/${name}-1/${name}.zip`));
});

test("What is named comes before what it needs.", async () => {
  const index = await indexOf({ a: [], b: [], y: ["a"], z: ["b", "y"] });
  const archives = await fetchPacks([{ name: "z" }, { name: "y" }], runtime, index, options);
  expect(archives.map(({ name }) => name)).toEqual(["z", "y", "b", "a"]);
});

test("A circle of needs ends.", async () => {
  const index = await indexOf({ a: ["b"], b: ["a"] });
  expect(await fetchPacks([{ name: "a" }, { name: "a" }], runtime, index, options)).toHaveLength(2);
});

test.each([
  ["an unknown pack", [{ name: "x" }], "This server has no pack x."],
  ["a pack whose need is unknown", [{ name: "a" }], "This server has no pack gone."],
  ["a name of every object", [{ name: "constructor" }], "This server has no pack constructor."],
  [
    "another version",
    [{ name: "a", version: "2" }],
    "This server has a 1, and the study's code was made for 2.",
  ],
])("%s is told.", async (_, names, message) => {
  const index = await indexOf({ a: ["gone"] });
  const refused = { code: "unknown_runtime", message };
  await expect(fetchPacks(names, runtime, index, options)).rejects.toMatchObject(refused);
});

test("Packs of another Pyodide are not loaded.", async () => {
  const index = { ...(await indexOf({ a: [] })), pyodide: "315.0.0" };
  const refused = { code: "unknown_runtime", message: expect.stringContaining("315.0.0") };
  await expect(fetchPacks([{ name: "a" }], runtime, index, options)).rejects.toMatchObject(refused);
});

test("A pack with another content is refused.", async () => {
  const index = await indexOf({ a: [] });
  const other = { ...options, fetch: async () => new Response(new Uint8Array([1, 2])) };
  const refused = { code: "assets_unavailable" };
  await expect(fetchPacks([{ name: "a" }], runtime, index, other)).rejects.toMatchObject(refused);
});

const never = { form: "br", isKept: async () => false } as const;

test("The bytes of packs are those on the wire, each once, without what the browser has kept.", async () => {
  const { packs } = await indexOf({ a: ["b", "c"], b: ["c"], c: [] });
  const sized = Object.entries(packs).map(([name, pack], i) => {
    const files = pack.files.map((file) => ({ ...file, br: 10 ** i, gz: i === 2 ? null : 7 }));
    return [name, { ...pack, files }] as const;
  });
  const index = { pyodide: "314.0.3", packs: Object.fromEntries(sized) };
  const wanted = [{ name: "a", version: "1" }, { name: "c" }];
  const bytesOf = (form: "br" | "gz", kept: string | null) =>
    missingBytes(wanted, index, { form, isKept: async (url) => url === kept });
  expect(await bytesOf("br", null)).toBe(111);
  expect(await bytesOf("br", "/runtime/b-1/b.zip")).toBe(101);
  expect(await bytesOf("gz", null)).toBe(7 + 7 + bytes.length);
  await expect(missingBytes([{ name: "x" }], index, never)).rejects.toMatchObject({
    code: "unknown_runtime",
  });
});
