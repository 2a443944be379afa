// A device without a browser. It sends the messages that a test chooses, even invalid ones.

import type { Lease, ServerMessage, ServerMessages } from "@hyperflock/worker-runtime/protocol";
import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";
import type { Server } from "./stack.ts";
import { until } from "./stack.ts";

export interface Enrolled {
  readonly device: string;
  readonly secret: string;
}

/** A new device joins by this code, or else by the first project's. */
export async function enrol(server: Server, code?: string): Promise<Enrolled> {
  const enrolment_code = code ?? (await server.credentials()).enrolment_code;
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

  /** Opens the socket and sends nothing. */
  static async connect(server: Server): Promise<Device> {
    const socket = new WebSocket(`${server.compute.replace("http", "ws")}/ws/worker`);
    const device = new Device(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", () => reject(new Error("the socket did not open")));
    });
    return device;
  }

  /** Opens the socket, sends `hello` and waits for `welcome`. */
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

  /** Returns the next message of this type. Messages before it are skipped. */
  async next<Type extends keyof ServerMessages>(
    type: Type,
    timeoutMs = LIMIT_MS,
  ): Promise<ServerMessages[Type]> {
    return until(
      `a ${type} message`,
      async () => {
        while (this.#next < this.received.length) {
          const message = this.received[this.#next];
          this.#next += 1;
          if (message?.type === type) return message as ServerMessages[Type];
        }
        return undefined;
      },
      timeoutMs,
    );
  }

  async lease(): Promise<Lease> {
    this.send({ type: "ready" });
    return (await this.next("lease")).lease;
  }

  result(lease: Lease, value: number): void {
    this.send(resultOf(lease.attempt, value));
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

/** Returns a message with a complete result. The fields of `more` replace the default ones. */
export function resultOf(attempt: number, value: number, more: object = {}): object {
  return {
    type: "result",
    attempt,
    seq: 1,
    outcome: "complete",
    values: [value],
    points: [],
    metrics: { load_ms: 0, run_ms: 1 },
    backend: "cpu",
    next: false,
    ...more,
  };
}

/**
 * Runs a device for a benchmark: for each trial that it gets it sends what `answer` returns, until there is no more work.
 * The last message must be a result that asks for the next trial.
 */
export async function computeAll(
  server: Server,
  answer: (attempt: number, trial: number) => readonly object[],
): Promise<void> {
  const identity = await enrol(server);
  const socket = new WebSocket(`${server.compute.replace("http", "ws")}/ws/worker`);
  const send = (message: object) => socket.send(JSON.stringify(message));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const compute = ({ attempt, trial }: { attempt: number; trial: number }) => {
    for (const message of answer(attempt, trial)) send(message);
  };
  socket.addEventListener("close", () => reject(new Error("the device's socket was closed")));
  socket.addEventListener("open", () => send(hello(identity)));
  socket.addEventListener("message", (event) => {
    const message = JSON.parse(String(event.data)) as ServerMessage;
    if (message.type === "welcome") send({ type: "ready" });
    else if (message.type === "error") reject(new Error(`${message.code}: ${message.message}`));
    else if (message.type === "wait") resolve();
    else if (message.type === "lease") compute(message.lease);
    else if (message.type === "result_ack" && message.lease !== undefined) compute(message.lease);
  });
  await promise;
  socket.close(1000);
}
