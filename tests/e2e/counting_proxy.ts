// An HTTP proxy between a browser and the server that counts the bytes of each answer, to measure how much a visit
// downloads. It changes nothing, except that it can remove given headers. WebSockets pass through and are not
// counted.

import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

export interface Transfer {
  readonly path: string;
  readonly status: number;
  readonly bytes: number;
}

export class CountingProxy {
  readonly transfers: Transfer[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();

  private constructor(upstream: URL, without: readonly string[]) {
    this.#server = createServer((incoming, outgoing) => {
      const forwarded = request(
        {
          host: upstream.hostname,
          port: upstream.port,
          method: incoming.method,
          path: incoming.url,
          headers: incoming.headers,
        },
        (answer) => {
          for (const name of without) delete answer.headers[name];
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          let bytes = 0;
          answer.on("data", (chunk: Buffer) => {
            bytes += chunk.length;
          });
          answer.on("end", () =>
            this.transfers.push({
              path: incoming.url ?? "",
              status: answer.statusCode ?? 0,
              bytes,
            }),
          );
          answer.pipe(outgoing);
        },
      );
      forwarded.on("error", () => outgoing.destroy());
      incoming.pipe(forwarded);
    });
    this.#server.on("upgrade", (incoming, socket, head) => {
      this.#tunnel(upstream, incoming, socket, head);
    });
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  /**
   * Starts a proxy. `without` lists headers, in lower case, that it removes from answers. A URL object may be changed
   * later, when the server has a port.
   */
  static async start(
    upstream: string | URL,
    without: readonly string[] = [],
  ): Promise<CountingProxy> {
    const proxy = new CountingProxy(
      upstream instanceof URL ? upstream : new URL(upstream),
      without,
    );
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get origin(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string")
      throw new Error("the proxy is not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Returns the answers since the last call, and forgets them. */
  take(): readonly Transfer[] {
    return this.transfers.splice(0);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #tunnel(upstream: URL, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const server = connect(Number(upstream.port), upstream.hostname, () => {
      const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`];
      for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
        lines.push(`${incoming.rawHeaders[at]}: ${incoming.rawHeaders[at + 1]}`);
      }
      server.write(`${lines.join("\r\n")}\r\n\r\n`);
      server.write(head);
      server.pipe(socket).pipe(server);
    });
    server.on("error", () => socket.destroy());
    socket.on("error", () => server.destroy());
    socket.on("close", () => server.destroy());
  }
}
