// A loopback server for the browser tests. It serves a built folder under the same headers that the real server sets.
// It answers `POST /api/project` with fixed data and refuses `POST /api/join`. It logs all requests. Runs in Node.

import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import axe from "axe-core";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
};

const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; " +
    "img-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const;

/** Returns what is sent in place of a file. */
export type Alter = (name: string, content: Buffer) => Buffer | string;

/** Files below `/app/` never change, as on the real server. So a browser keeps their compiled scripts. */
const UNCHANGING = { "Cache-Control": "public, max-age=31536000, immutable" } as const;

/** The path of axe on this server. axe checks a page's accessibility. */
export const AXE_PATH = "/app/axe.js";

export const GOOD_CODE = "hfe_goodcode";
const PROJECT = {
  project: {
    name: "Digits <b>grid</b>",
    owner: "Aoki Lab",
    studies: 1,
    trials_done: 3,
    trials_total: 8,
  },
};

export interface StaticServer {
  readonly origin: string;
  /** The method and path of each request, in order. */
  readonly log: string[];
  close(): Promise<void>;
}

async function body(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) {
    parts.push(part as Buffer);
  }
  return JSON.parse(Buffer.concat(parts).toString("utf8"));
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...HEADERS, "Content-Type": "application/json" });
  response.end(JSON.stringify(value));
}

async function answer(
  folder: string,
  alter: Alter,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const path = new URL(request.url ?? "/", "http://localhost").pathname;
  if (request.method === "POST" && path === "/api/project") {
    const { code } = (await body(request)) as { code?: unknown };
    if (code === GOOD_CODE) {
      sendJson(response, 200, PROJECT);
    } else {
      const error = { code: "bad_enrolment_code", message: "The join link is not valid." };
      sendJson(response, 403, { error });
    }
    return;
  }
  if (request.method === "POST" && path === "/api/join") {
    const error = { code: "bad_enrolment_code", message: "The join link is not valid." };
    sendJson(response, 403, { error });
    return;
  }
  const name =
    path === "/join" || path === "/selftest"
      ? `${path.slice(1)}.html`
      : path === "/"
        ? "index.html"
        : normalize(path);
  try {
    const bytes = name === AXE_PATH ? axe.source : await readFile(join(folder, name));
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    const caching = name.startsWith("/app/") ? UNCHANGING : {};
    response.writeHead(200, { ...HEADERS, ...caching, "Content-Type": type });
    response.end(alter(name, Buffer.from(bytes)));
  } catch {
    sendJson(response, 404, { error: { code: "not_found", message: "There is no such file." } });
  }
}

/** Serves a folder on a free port of loopback. `alter` may change files on their way. */
export async function serve(
  folder: string,
  alter: Alter = (_name, content) => content,
): Promise<StaticServer> {
  const log: string[] = [];
  const server = createServer((request, response) => {
    log.push(`${request.method} ${new URL(request.url ?? "/", "http://localhost").pathname}`);
    answer(folder, alter, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    log,
    close: () =>
      new Promise((resolve, reject) => {
        server.closeAllConnections();
        server.close((error) => (error ? reject(error) : resolve()));
      }),
  };
}
