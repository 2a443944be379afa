// Tests what the page says about the bytes of a start.

import { describe, expect, it } from "vitest";
import { en } from "../../i18n/en.ts";
import { Formatter } from "../../i18n/format.ts";
import {
  type DownloadSize,
  type Downloads,
  downloadSize,
  type Kept,
  NOTHING_KEPT,
  parseDownloads,
  SCRIPT_BYTES,
  sizeText,
} from "./download.ts";

const DOWNLOADS: Downloads = {
  pieces: [
    { path: "/runtime/pyodide-1/core.wasm", bytes: 5_000_000 },
    { path: "/runtime/numpy-1/numpy.zip", bytes: 2_000_000 },
    { path: "/runtime/arraycore-1/arraycore.wasm", bytes: 700_000 },
  ],
  studies: [
    { pieces: [0, 1], blobs: [{ sha256: "a", bytes: 1_000 }] },
    {
      pieces: [0, 1, 2],
      blobs: [
        { sha256: "b", bytes: 1_000 },
        { sha256: "d", bytes: 9_000_000 },
        { sha256: "d", bytes: 9_000_000 },
      ],
    },
  ],
};
const keeping = (...names: readonly string[]): Kept => ({
  piece: async (path) => names.includes(path),
  blob: async (sha256) => names.includes(sha256),
});
const RUNTIME = DOWNLOADS.pieces.map(({ path }) => path);

describe("what a start fetches", () => {
  it("is between the study that needs least and the one that needs most, each file once", async () => {
    expect(await downloadSize(DOWNLOADS, NOTHING_KEPT)).toEqual({
      least: 7_001_000 + SCRIPT_BYTES,
      most: 16_701_000 + SCRIPT_BYTES,
    });
  });

  it("leaves out what this browser has kept", async () => {
    expect(await downloadSize(DOWNLOADS, keeping(...RUNTIME, "a"))).toEqual({
      least: 0,
      most: 9_001_000,
    });
    expect(await downloadSize(DOWNLOADS, keeping(...RUNTIME.slice(0, 2), "a", "b", "d"))).toEqual({
      least: 0,
      most: 700_000 + SCRIPT_BYTES,
    });
  });

  it("is unknown without a study", async () => {
    expect(await downloadSize({ ...DOWNLOADS, studies: [] }, NOTHING_KEPT)).toBeNull();
  });
});

describe("the server's list", () => {
  it("is taken as it is", () => {
    expect(parseDownloads(structuredClone(DOWNLOADS))).toEqual(DOWNLOADS);
  });

  it.each([
    ["an older server's", undefined],
    ["no object", 3],
    ["no pieces", { studies: [] }],
    ["no studies", { pieces: [] }],
    ["a piece without bytes", { pieces: [{ path: "/x" }], studies: [] }],
    ["a negative size", { pieces: [{ path: "/x", bytes: -1 }], studies: [] }],
    ["a piece that is not listed", { pieces: [], studies: [{ pieces: [0], blobs: [] }] }],
    ["a blob without a hash", { pieces: [], studies: [{ pieces: [], blobs: [{ bytes: 1 }] }] }],
    ["a study that is null", { pieces: [], studies: [null] }],
  ])("is not trusted: %s", (_, value) => {
    expect(parseDownloads(value)).toBeNull();
  });
});

describe("the amount", () => {
  const format = new Formatter("en");
  it.each<[DownloadSize, string]>([
    [{ least: 8_612_345, most: 8_612_345 }, "About 8.61 MB"],
    [{ least: 8_000_000, most: 8_700_000 }, "About 8.7 MB"],
    [{ least: 8_000_000, most: 270_000_000 }, "8 MB to 270 MB"],
    [{ least: 0, most: 99_999 }, "Less than 100 kB"],
    [{ least: 0, most: 5_000_000 }, "100 kB to 5 MB"],
  ])("%j is %s", (size, text) => {
    expect(sizeText(size, en.facts.download, format)).toBe(text);
  });
});
