// Fetches the runtime's files from this origin in parallel, and counts the bytes that the network moves. Archives are verified against the
// index. Pyodide's own files are streamed into the compiler. Their URLs contain their hash, and they are trusted like
// any script of this origin. The option `integrity` of fetch is not used, because it would hold back each file until
// its last byte. Runs on the python thread, before trial code.

import { hexOf } from "../base/hex.ts";
import { sentBytes } from "../base/sent_bytes.ts";
import type { RuntimeFile, RuntimePiece } from "./messages.ts";

/** The shortest time between two reports of progress. */
const TELL_MS = 100;

export class AssetError extends Error {
  override readonly name = "AssetError";
  readonly code = "assets_unavailable";
}

/** What has arrived of a file. */
interface Arrival {
  readonly whole: number;
  /** The length of the answer as it was sent; null until it begins. */
  sent: number | null;
  /** The bytes that have arrived, uncompressed. */
  loaded: number;
}

/** `total` is 0 while the sizes are not known. */
export type Tell = (loaded: number, total: number) => void;

export class Assets {
  readonly #tell: Tell;
  readonly #responses = new Map<string, Promise<Response>>();
  readonly #arrivals: Arrival[] = [];
  readonly #code: Arrival[] = [];
  #toldAt = 0;

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  /** Starts to fetch files of a piece. `take` returns the responses. */
  begin(piece: RuntimePiece, files: readonly RuntimeFile[] = piece.files): void {
    for (const file of files) {
      const url = new URL(piece.base + file.name, self.location.origin).href;
      const arrival: Arrival = { whole: file.bytes, sent: null, loaded: 0 };
      this.#arrivals.push(arrival);
      // The browser caches compiled code only for the response that it made itself. So a response with code is not
      // wrapped to count its bytes.
      const isCode = file.name.endsWith(".wasm");
      if (isCode) this.#code.push(arrival);
      const response = request(url).then((answer) => {
        arrival.sent = sentBytes(answer, file.bytes);
        return isCode ? answer : this.#counted(answer, arrival);
      });
      // The caller of `take` handles a failure. This only prevents an unhandled rejection.
      response.catch(() => {});
      this.#responses.set(url, response);
    }
  }

  /** Returns the response for this URL at the first call; undefined later, and if `begin` did not request the URL. */
  take(url: string): Promise<Response> | undefined {
    const response = this.#responses.get(url);
    this.#responses.delete(url);
    return response;
  }

  /** Counts all bytes of the WebAssembly code as loaded. Call it when the compiler has received the whole code. */
  codeArrived(): void {
    for (const arrival of this.#code.splice(0)) arrival.loaded = arrival.whole;
    this.#tellNow();
  }

  /** Returns the verified bytes of a piece that consists of one file. */
  async bytesOf(piece: RuntimePiece): Promise<Uint8Array> {
    const [file] = piece.files;
    if (file === undefined) throw new AssetError(`The piece ${piece.base} has no file.`);
    const url = new URL(piece.base + file.name, self.location.origin).href;
    const response = await this.take(url);
    if (response === undefined) throw new AssetError(`${url} was not begun.`);
    const bytes = await response.arrayBuffer().catch(() => null);
    if (bytes === null) throw new AssetError(`${url}: the connection broke off.`);
    if (hexOf(await crypto.subtle.digest("SHA-256", bytes)) !== file.sha256) {
      throw new AssetError(`${url} is not what the runtime's index says.`);
    }
    return new Uint8Array(bytes);
  }

  #counted(response: Response, arrival: Arrival): Response {
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        arrival.loaded += chunk.length;
        this.#tellSoon();
        controller.enqueue(chunk);
      },
    });
    const body = response.body?.pipeThrough(count) ?? null;
    return new Response(body, { status: response.status, headers: response.headers });
  }

  #tellSoon(): void {
    const now = performance.now();
    const isWhole = this.#arrivals.every(({ whole, loaded }) => loaded >= whole);
    if (now < this.#toldAt + TELL_MS && !isWhole) return;
    this.#toldAt = now;
    this.#tellNow();
  }

  #tellNow(): void {
    let loaded = 0;
    let total = 0;
    let isKnown = true;
    for (const { whole, sent, loaded: arrived } of this.#arrivals) {
      isKnown &&= sent !== null;
      total += sent ?? 0;
      loaded += whole === 0 ? 0 : Math.round(((sent ?? 0) * arrived) / whole);
    }
    this.#tell(loaded, isKnown ? total : 0);
  }
}

async function request(url: string): Promise<Response> {
  const response = await fetch(url).catch(() => null);
  if (response === null) throw new AssetError(`${url} cannot be reached.`);
  if (!response.ok) throw new AssetError(`${url}: the server answered ${response.status}.`);
  return response;
}
