// A TCP proxy between a browser and the server whose line the test cuts and mends, as a phone in a tunnel loses its network.

import { connect, createServer, type Server, type Socket } from "node:net";

export class CutProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(upstream: URL) {
    this.#server = createServer((incoming) => {
      if (this.#isCut) {
        incoming.destroy();
        return;
      }
      const outgoing = connect(Number(upstream.port), upstream.hostname);
      for (const [one, other] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        this.#sockets.add(one);
        one.on("error", () => other.destroy());
        one.on("close", () => {
          this.#sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
  }

  static async start(upstream: string): Promise<CutProxy> {
    const proxy = new CutProxy(new URL(upstream));
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get origin(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy is closed");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Ends every connection and refuses new ones. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
