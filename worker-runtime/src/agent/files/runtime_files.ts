// Fetches single files of the runtime that the agent sends to a python thread. Each is verified against the index. Runs on
// the agent thread.

import { hexOf } from "../../base/hex.ts";
import { sentBytes } from "../../base/sent_bytes.ts";
import type { RuntimeFile, RuntimeIndex, RuntimePiece } from "../../python/messages.ts";

export interface RuntimeFetch {
  readonly fetch: (url: string) => Promise<Response>;
  /** Called while bytes arrive. `loaded` and `total` count bytes as the network moves them. */
  readonly tell: (loaded: number, total: number) => void;
}

/**
 * Thrown if a part of the runtime cannot be fetched. The codes are the same as for the parts that the python thread
 * fetches itself.
 */
export class RuntimeUnavailableError extends Error {
  override readonly name = "RuntimeUnavailableError";
  readonly code: "assets_unavailable" | "unknown_runtime";

  constructor(code: RuntimeUnavailableError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** A file of a piece of the runtime, with its URL. */
export interface Located {
  readonly file: RuntimeFile;
  readonly url: string;
}

/** Finds a file in the index. Throws RuntimeUnavailableError if the piece or the file does not exist. */
export function locate(index: RuntimeIndex, piece: string, name: string): Located {
  const found: RuntimePiece | undefined = Object.hasOwn(index.pieces, piece)
    ? index.pieces[piece]
    : undefined;
  const file = found?.files.find((one) => one.name === name);
  if (found !== undefined && file !== undefined) return { file, url: `${found.base}${name}` };
  const message = `This server's runtime has no ${piece} with ${name}.`;
  throw new RuntimeUnavailableError("unknown_runtime", message);
}

/** Fetches all files in parallel. Throws RuntimeUnavailableError if one cannot be fetched or has another hash. */
export function fetchAll(
  files: readonly Located[],
  { fetch, tell }: RuntimeFetch,
): Promise<Uint8Array<ArrayBuffer>>[] {
  const sizes = files.map(({ file }) => file.bytes);
  let loaded = 0;
  return files.map(async (one, index) => {
    const bytes = await verified(one, async (url) => {
      const answer = await fetch(url);
      sizes[index] = sentBytes(answer, one.file.bytes);
      return answer;
    });
    loaded += sizes[index] ?? 0;
    const total = sizes.reduce((sum, size) => sum + size, 0);
    tell(loaded, total);
    return bytes;
  });
}

async function verified(
  { file, url }: Located,
  fetch: RuntimeFetch["fetch"],
): Promise<Uint8Array<ArrayBuffer>> {
  const refuse = (why: string) =>
    new RuntimeUnavailableError("assets_unavailable", `${url}: ${why}`);
  const response = await fetch(url).catch(() => null);
  if (response === null) throw refuse("it cannot be reached.");
  if (!response.ok) throw refuse(`the server answered ${response.status}.`);
  const bytes = await response.arrayBuffer().catch(() => null);
  if (bytes === null) throw refuse("the connection broke off.");
  if (hexOf(await crypto.subtle.digest("SHA-256", bytes)) !== file.sha256) {
    throw refuse("it is not what the runtime's index says.");
  }
  return new Uint8Array(bytes);
}
