// The local server of `./run python --host chromium`. It serves an isolated page on loopback, the python thread's sources
// without their types, the runtime's files and the mounted folders, and receives the script's output. Each URL contains a
// secret, so that no other program of this machine can read or write the folders. Node, main thread.

import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join, relative, resolve, sep } from "node:path";
import { ROOT } from "./places.ts";

const SOURCES = join(ROOT, "worker-runtime");
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  ts: "text/javascript",
  mjs: "text/javascript",
  wasm: "application/wasm",
};
const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>./run python</title>`;

export interface ServedFiles {
  /** The folders from which files are served. Those in `write` are mounted, and the script may also write there. */
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** Returns the absolute paths of all files below a folder. It follows links to files, but not to folders. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() || (entry.isSymbolicLink() && leadsToFile(path)) ? [path] : [];
  });
}

function leadsToFile(link: string): boolean {
  try {
    return statSync(link).isFile();
  } catch {
    return false; // a link to nothing, or in a circle
  }
}

export type OnOutput = (stream: 1 | 2, bytes: Buffer) => void;

export class ScriptServer {
  readonly #server: Server;
  readonly #files: ServedFiles;
  readonly #onOutput: OnOutput;
  readonly #secret = randomBytes(16).toString("hex");

  private constructor(files: ServedFiles, onOutput: OnOutput) {
    this.#files = files;
    this.#onOutput = onOutput;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  static async start(files: ServedFiles, onOutput: OnOutput): Promise<ScriptServer> {
    const server = new ScriptServer(files, onOutput);
    await new Promise<void>((done) => server.#server.listen(0, "127.0.0.1", done));
    return server;
  }

  /** The page's URL. Sources are below `src/` and `node/`, files below `file/`. */
  get base(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${this.#secret}/`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://local").pathname);
    const [, secret, area, ...rest] = path.split("/");
    if (secret !== this.#secret) {
      response.writeHead(404).end();
    } else if (request.method === "POST" && area === "output") {
      this.#onOutput(rest[0] === "1" ? 1 : 2, await bodyOf(request));
      response.writeHead(204).end();
    } else if (request.method === "PUT" && area === "file") {
      this.#store(resolve("/", ...rest), await bodyOf(request), response);
    } else if (area === "") {
      send(response, "html", Buffer.from(PAGE));
    } else if (area === "src" || area === "node") {
      this.#sendSource(join(SOURCES, area, ...rest), response);
    } else if (area === "file") {
      this.#sendFile(resolve("/", ...rest), response);
    } else {
      response.writeHead(404).end();
    }
  }

  #sendSource(path: string, response: ServerResponse): void {
    if (!isBelow(path, SOURCES) || !path.endsWith(".ts")) {
      response.writeHead(404).end();
      return;
    }
    send(response, "ts", Buffer.from(stripTypeScriptTypes(readFileSync(path, "utf8"))));
  }

  #sendFile(path: string, response: ServerResponse): void {
    if (!this.#files.read.some((place) => isBelow(path, place))) {
      response.writeHead(403).end();
      return;
    }
    send(response, path.slice(path.lastIndexOf(".") + 1), readFileSync(path));
  }

  #store(path: string, bytes: Buffer, response: ServerResponse): void {
    if (!this.#files.write.some((place) => isBelow(path, place))) {
      response.writeHead(403).end();
      return;
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    response.writeHead(204).end();
  }
}

function isBelow(path: string, place: string): boolean {
  const way = relative(place, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}

function send(response: ServerResponse, extension: string, bytes: Buffer): void {
  response.writeHead(200, {
    "Content-Type": TYPES[extension] ?? "application/octet-stream",
    "Content-Length": bytes.length,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cache-Control": "no-store",
  });
  response.end(bytes);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
