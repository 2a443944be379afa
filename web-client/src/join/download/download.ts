// What a start downloads: the bytes that the network moves, compressed. The server lists what the project's studies need
// ("Project" of server/docs/rest.md), and this browser knows what it has kept. Page thread; pure.

import type { Dictionary } from "../../i18n/dictionary.ts";
import type { Formatter } from "../../i18n/format.ts";
import { count } from "../answer.ts";

/**
 * The bytes for Python, NumPy and Chainer at a first visit, for a project whose studies are not known, because none runs.
 * `bytes.test.ts` measures that this is within 10 %.
 */
export const FIRST_VISIT_BYTES = 8_600_000;
/** The scripts of the threads, and the requests around them. */
export const SCRIPT_BYTES = 80_000;
/** What is less is not counted exactly: the requests of each start. */
const LITTLE_BYTES = 100_000;
/** Sizes closer than this are one size. */
const SAME = 1.1;

export interface Downloads {
  /** Parts of the runtime. `path` is the largest file of a part. */
  readonly pieces: readonly { readonly path: string; readonly bytes: number }[];
  readonly studies: readonly {
    /** Indices of `pieces`. */
    readonly pieces: readonly number[];
    readonly blobs: readonly { readonly sha256: string; readonly bytes: number }[];
  }[];
}

/** What this browser has, so that it is not fetched again. */
export interface Kept {
  piece(path: string): Promise<boolean>;
  blob(sha256: string): Promise<boolean>;
}

export const NOTHING_KEPT: Kept = { piece: async () => false, blob: async () => false };

/** The bytes for a trial of the study that needs least, and of the one that needs most. */
export interface DownloadSize {
  readonly least: number;
  readonly most: number;
}

const isSized = (value: unknown, name: "path" | "sha256"): boolean => {
  const { [name]: text, bytes } = Object(value) as Readonly<Record<string, unknown>>;
  return typeof text === "string" && count(bytes) !== null;
};

/** Returns the server's list; null if it is missing, as of an older server, or invalid. */
export function parseDownloads(value: unknown): Downloads | null {
  const { pieces, studies } = Object(value) as Partial<Downloads>;
  if (!Array.isArray(pieces) || !pieces.every((piece) => isSized(piece, "path"))) return null;
  if (!Array.isArray(studies)) return null;
  const isStudy = (study: unknown) => {
    const { pieces: used, blobs } = Object(study) as Readonly<Record<string, unknown>>;
    return (
      Array.isArray(used) &&
      used.every((index) => count(index) !== null && index < pieces.length) &&
      Array.isArray(blobs) &&
      blobs.every((blob) => isSized(blob, "sha256"))
    );
  };
  return studies.every(isStudy) ? { pieces, studies } : null;
}

/** Returns what a start fetches; null if no study is known. */
export async function downloadSize(
  { pieces, studies }: Downloads,
  kept: Kept,
): Promise<DownloadSize | null> {
  if (studies.length === 0) return null;
  const missing = await Promise.all(
    pieces.map(async ({ path, bytes }) => ((await kept.piece(path)) ? 0 : bytes)),
  );
  const sums = await Promise.all(
    studies.map(async (study) => {
      const runtime = study.pieces.reduce((sum, index) => sum + (missing[index] ?? 0), 0);
      // Data with the same content have the same hash, and are fetched once.
      const blobs = new Map(study.blobs.map(({ sha256, bytes }) => [sha256, bytes]));
      const missed = await Promise.all(
        [...blobs].map(async ([sha256, bytes]) => ((await kept.blob(sha256)) ? 0 : bytes)),
      );
      // A browser that has kept the runtime has kept the scripts, too.
      const scripts = runtime === 0 ? 0 : SCRIPT_BYTES;
      return missed.reduce((sum, bytes) => sum + bytes, runtime + scripts);
    }),
  );
  return { least: Math.min(...sums), most: Math.max(...sums) };
}

/** Writes a size, or two where the studies of the project differ. */
export function sizeText(
  { least, most }: DownloadSize,
  words: Dictionary["facts"]["download"],
  format: Formatter,
): string {
  if (most < LITTLE_BYTES) return words.little(format.size(LITTLE_BYTES));
  const text = format.size(most);
  return most <= Math.max(least, LITTLE_BYTES) * SAME
    ? words.about(text)
    : words.between(format.size(Math.max(least, LITTLE_BYTES)), text);
}
