// Fetches array-core: the module for this engine, and the Python package. Only for a study that asks for a device, so that
// others pay nothing for it; once, whatever number of python threads gets it. Runs on the agent thread.

import { hexOf } from "../hex.ts";
import type { ArraycoreParts, RuntimeFile, RuntimeIndex } from "../python/messages.ts";
import { hasRelaxedSimd } from "../simd.ts";

const kPiece = "arraycore";
const kArchive = "arraycore.zip";

/** array-core is not to be had; `code` as of the runtime's other pieces. */
export class ArraycoreUnavailableError extends Error {
  override readonly name = "ArraycoreUnavailableError";
  readonly code: "assets_unavailable" | "unknown_runtime";

  constructor(code: ArraycoreUnavailableError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export interface PartsOptions {
  readonly fetch: (url: string) => Promise<Response>;
  readonly compile: (bytes: Uint8Array<ArrayBuffer>) => Promise<WebAssembly.Module>;
  /** Uncompressed bytes, as they come. */
  readonly tell: (loaded: number, total: number) => void;
}

/** Which of the module's files this engine runs. */
export function moduleFile(engine: typeof WebAssembly = WebAssembly): string {
  return hasRelaxedSimd(engine) ? "arraycore-relaxed.wasm" : "arraycore.wasm";
}

/**
 * Throws ArraycoreUnavailableError where this server's runtime has none, the connection breaks off, or bytes are not
 * those of the index.
 */
export async function fetchArraycore(
  index: RuntimeIndex,
  { fetch, compile, tell }: PartsOptions,
): Promise<ArraycoreParts> {
  const piece = Object.hasOwn(index.pieces, kPiece) ? index.pieces[kPiece] : undefined;
  const fileOf = (name: string): RuntimeFile => {
    const file = piece?.files.find((one) => one.name === name);
    if (file !== undefined) return file;
    throw new ArraycoreUnavailableError(
      "unknown_runtime",
      `This server's runtime has no ${kPiece} with ${name}.`,
    );
  };
  const files = [fileOf(moduleFile()), fileOf(kArchive)] as const;
  const total = files[0].bytes + files[1].bytes;
  let loaded = 0;
  const get = async (file: RuntimeFile) => {
    const bytes = await verified(`${piece?.base ?? ""}${file.name}`, file, fetch);
    loaded += file.bytes;
    tell(loaded, total);
    return bytes;
  };
  const code = get(files[0]).then(compile);
  const [module, archive] = await Promise.all([code, get(files[1])]);
  return { module, archive };
}

async function verified(
  url: string,
  file: RuntimeFile,
  fetch: PartsOptions["fetch"],
): Promise<Uint8Array<ArrayBuffer>> {
  const refuse = (why: string) =>
    new ArraycoreUnavailableError("assets_unavailable", `${url}: ${why}`);
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
