// A TCP connection between devices and the server, which a test can cut, slow down and restore. It does not look at the
// bytes.

import { connect, createServer, type Server, type Socket } from "node:net";

const PIECE_MS = 50;

export class Link {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #bytesPerSecond = Number.POSITIVE_INFINITY;

  private constructor(port: number) {
    this.#server = createServer((near) => {
      const far = connect(port, "127.0.0.1");
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.setNoDelay(true);
        socket.on("close", () => {
          this.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
        // An error needs no handling here: the event `close` follows it, and its handler ends both connections.
        socket.on("error", () => {});
      }
      this.#carry(near, far);
      this.#carry(far, near);
    });
  }

  /** Makes a link to this port on this machine. It works again after the server has restarted. */
  static async to(port: number): Promise<Link> {
    const link = new Link(port);
    await new Promise<void>((resolve) => link.#server.listen(0, "127.0.0.1", resolve));
    return link;
  }

  get origin(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the link is closed");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Ends every connection at once. New connections are possible. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  slow(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
  }

  mend(): void {
    this.#bytesPerSecond = Number.POSITIVE_INFINITY;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #carry(from: Socket, to: Socket): void {
    from.on("data", (bytes: Buffer) => {
      if (Number.isFinite(this.#bytesPerSecond)) {
        from.pause();
        this.#trickle(bytes, to, () => from.resume());
      } else if (!to.write(bytes)) {
        from.pause();
        to.once("drain", () => from.resume());
      }
    });
  }

  #trickle(bytes: Buffer, to: Socket, done: () => void): void {
    if (to.destroyed || bytes.length === 0) {
      done();
      return;
    }
    const rate = this.#bytesPerSecond;
    const size = Number.isFinite(rate) ? Math.ceil((rate * PIECE_MS) / 1000) : bytes.length;
    to.write(bytes.subarray(0, size));
    setTimeout(() => this.#trickle(bytes.subarray(size), to, done), PIECE_MS);
  }
}
