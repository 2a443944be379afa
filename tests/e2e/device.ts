// A device without a browser: speaks the worker protocol as the test tells it, also wrongly.

import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";
import type { Server } from "./stack.ts";
import { until } from "./stack.ts";

export interface LeaseMessage {
  readonly attempt: number;
  readonly study: number;
  readonly trial: number;
  readonly params: string;
  readonly kind: string;
  readonly checkpoint?: { readonly attempt: number; readonly step?: number };
}
export interface ServerMessage {
  readonly type: string;
  readonly code?: string;
  readonly field?: string;
  readonly verdict?: string;
  readonly attempt?: number;
  readonly lease?: LeaseMessage;
}
export interface Enrolled {
  readonly device: string;
  readonly secret: string;
}

export async function enrol(server: Server): Promise<Enrolled> {
  const { enrolment_code } = await server.credentials();
  const answer = await fetch(`${server.compute}/api/join`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: enrolment_code, class: "desktop", engine: "test" }),
  });
  if (answer.status !== 201) throw new Error(`join: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Enrolled;
}

export class Device {
  readonly received: ServerMessage[] = [];
  closeCode: number | undefined;
  readonly #socket: WebSocket;
  #next = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", (event) => {
      this.received.push(JSON.parse(String(event.data)) as ServerMessage);
    });
    socket.addEventListener("close", (event) => {
      this.closeCode = event.code;
    });
  }

  /** Opens the socket and says nothing. */
  static async connect(server: Server): Promise<Device> {
    const socket = new WebSocket(`${server.compute.replace("http", "ws")}/ws/worker`);
    const device = new Device(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", () => reject(new Error("the socket did not open")));
    });
    return device;
  }

  /** Opens, says hello and waits for the welcome. */
  static async join(server: Server, identity?: Enrolled): Promise<Device> {
    const device = await Device.connect(server);
    device.send(hello(identity ?? (await enrol(server))));
    await device.next("welcome");
    return device;
  }

  send(message: object): void {
    this.sendText(JSON.stringify(message));
  }
  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** The next message of that type, those before it passed over. */
  async next(type: string, timeoutMs = LIMIT_MS): Promise<ServerMessage> {
    return until(
      `a ${type} message`,
      async () => {
        while (this.#next < this.received.length) {
          const message = this.received[this.#next];
          this.#next += 1;
          if (message?.type === type) return message;
        }
        return undefined;
      },
      timeoutMs,
    );
  }

  async lease(): Promise<LeaseMessage> {
    this.send({ type: "ready" });
    const { lease } = await this.next("lease");
    if (lease === undefined) throw new Error("a lease message without its lease");
    return lease;
  }

  result(lease: LeaseMessage, value: number): void {
    this.send({
      type: "result",
      attempt: lease.attempt,
      seq: 1,
      outcome: "complete",
      values: [value],
      points: [],
      metrics: { load_ms: 0, run_ms: 1 },
      backend: "cpu",
      next: false,
    });
  }

  close(): void {
    this.#socket.close(1000);
  }
}

export function hello({ device, secret }: Enrolled, protocol = 1): object {
  return {
    type: "hello",
    protocol,
    role: "device",
    device,
    secret,
    agent: "test/1",
    capabilities: {
      backends: ["cpu"],
      memory_mb: 1024,
      cores: 1,
      engine: "test",
      class: "desktop",
    },
    attempts: [],
  };
}
