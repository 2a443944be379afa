// Stands for a foreign machine that a hostile trial tries to reach. It records all TCP and UDP traffic to one port. It
// allows HTTP requests from every origin, so that only the browser can refuse them.

import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Sink {
  /**
   * The contacts: `tcp` for each connection, the method and path of each request, and `upgrade` or `udp` with details.
   */
  readonly contacts: string[] = [];
  readonly #server: Server;
  readonly #datagrams: Socket;
  readonly url: string;

  private constructor(server: Server, datagrams: Socket, port: number) {
    this.#server = server;
    this.#datagrams = datagrams;
    this.url = `http://127.0.0.1:${port}`;
    server.on("connection", () => this.contacts.push("tcp"));
    server.on("request", (request, response) => {
      this.contacts.push(`${request.method} ${request.url}`);
      response.writeHead(200, {
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
        "content-type": "text/javascript",
      });
      response.end("globalThis.hostile_import = 1;");
    });
    server.on("upgrade", (request, socket) => {
      this.contacts.push(`upgrade ${request.url}`);
      socket.destroy();
    });
    datagrams.on("message", (bytes) => this.contacts.push(`udp ${bytes.length}`));
  }

  static async open(): Promise<Sink> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const datagrams = createSocket("udp4").bind(port, "127.0.0.1");
    await once(datagrams, "listening");
    return new Sink(server, datagrams, port);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#datagrams.close();
  }
}
