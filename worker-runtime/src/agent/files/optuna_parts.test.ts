// Tests that Optuna's archives are fetched by their hashes.

import { expect, test } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import type { RuntimeIndex } from "../../python/messages.ts";
import { fetchOptuna } from "./optuna_parts.ts";

const NAMES = ["packaging", "colorlog", "tqdm", "optuna"];

async function indexOf(bytes: Uint8Array<ArrayBuffer>): Promise<RuntimeIndex> {
  const sha256 = await sha256Hex(bytes);
  const piece = (name: string) => ({
    version: "1",
    base: `/runtime/${name}-1/`,
    files: [{ name: `${name}.zip`, sha256, bytes: bytes.length }],
  });
  return { runtime: "r", pieces: Object.fromEntries(NAMES.map((name) => [name, piece(name)])) };
}

test("Optuna comes with what it needs, each byte counted.", async () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const asked: string[] = [];
  const told: (readonly [number, number])[] = [];
  const archives = await fetchOptuna(await indexOf(bytes), {
    fetch: async (url) => {
      asked.push(url);
      return new Response(bytes);
    },
    tell: (loaded, total) => told.push([loaded, total]),
  });
  expect(archives).toEqual(NAMES.map(() => bytes));
  expect(asked).toEqual(NAMES.map((name) => `/runtime/${name}-1/${name}.zip`));
  expect(told.at(-1)).toEqual([12, 12]);
});

test("A runtime without it is told.", async () => {
  const index = { runtime: "r", pieces: {} };
  const options = { fetch: async () => new Response(), tell: () => {} };
  await expect(fetchOptuna(index, options)).rejects.toThrow("has no packaging with packaging.zip");
});
