// A device without a browser. It follows the protocol even when its connection breaks: it keeps its attempt when it
// connects again, sends a result again until it is acknowledged, and asks for more work. It records the results that
// the server acknowledged. It may send an invented value for each trial.

import { setTimeout as sleep } from "node:timers/promises";
import type { ServerMessage } from "@hyperflock/worker-runtime/protocol";
import { type Enrolled, hello, resultOf } from "../e2e/device.ts";
import type { Link } from "./link.ts";

const HEARTBEAT_MS = 300;
/** If the server sends nothing for this long, the device connects again. */
const SILENCE_MS = 1_500;

export interface Acknowledged {
  readonly study: number;
  readonly trial: number;
  readonly attempt: number;
  readonly value: number;
  readonly verdict: string;
}

interface Attempt {
  readonly study: number;
  readonly trial: number;
  readonly attempt: number;
  readonly value: number;
  readonly doneAt: number;
}

/**
 * Returns the value that a device sends that lies. No trial has it. Each attempt has another one, or the server would bar
 * the device itself (R75).
 */
const inventedBy = (attempt: number): number => -attempt;

export class Worker {
  /** The results that the server has acknowledged. The server must not lose them. */
  readonly acknowledged: Acknowledged[] = [];
  readonly #link: Link;
  readonly #identity: Enrolled;
  readonly #random: () => number;
  readonly #isLiar: boolean;
  #attempt: Attempt | null = null;
  #isAlive = true;
  #socket: WebSocket | null = null;
  readonly ended: Promise<void>;

  constructor(link: Link, identity: Enrolled, random: () => number, isLiar = false) {
    this.#link = link;
    this.#identity = identity;
    this.#random = random;
    this.#isLiar = isLiar;
    this.ended = this.#live();
  }

  get device(): string {
    return this.#identity.device;
  }

  get isComputing(): boolean {
    return this.#attempt !== null;
  }

  /** Ends the device for ever. The connection is cut first, so that the server gets no close frame. */
  kill(): void {
    this.#isAlive = false;
    this.#link.cut();
    this.#socket?.close();
  }

  async #live(): Promise<void> {
    while (this.#isAlive) {
      await this.#session().catch(() => {});
      await sleep(50 + 150 * this.#random());
    }
  }

  /** Runs one connection, from `hello` to its end. */
  async #session(): Promise<void> {
    const socket = new WebSocket(`${this.#link.origin.replace("http", "ws")}/ws/worker`);
    this.#socket = socket;
    let heardAt = Date.now();
    let isOpen = true;
    let sentResult = false;
    const send = (message: object) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    };
    const { promise: over, resolve } = Promise.withResolvers<void>();
    for (const kind of ["close", "error"] as const) {
      socket.addEventListener(kind, () => {
        isOpen = false;
        resolve();
      });
    }
    socket.addEventListener("open", () =>
      send({
        ...hello(this.#identity),
        attempts: this.#attempt === null ? [] : [this.#attempt.attempt],
      }),
    );
    socket.addEventListener("message", (event) => {
      heardAt = Date.now();
      const message = JSON.parse(String(event.data)) as ServerMessage;
      if (message.type === "welcome") {
        const held = this.#attempt;
        const isDone = held !== null && Date.now() >= held.doneAt;
        if (held !== null && !isDone && !message.attempts.includes(held.attempt)) {
          this.#attempt = null;
        }
        sentResult = false;
        if (this.#attempt === null) send({ type: "ready" });
      } else if (message.type === "result_ack") {
        const held = this.#attempt;
        if (held !== null && held.attempt === message.attempt) {
          this.acknowledged.push({ ...held, verdict: message.verdict });
          this.#attempt = null;
        }
        sentResult = false;
      } else if (message.type === "revoke" && this.#attempt?.attempt === message.attempt) {
        if (!sentResult) {
          this.#attempt = null;
          send({ type: "ready" });
        }
      } else if (message.type === "error" && message.code === "unknown_attempt") {
        this.#attempt = null;
        send({ type: "ready" });
      } else if (message.type === "error" && message.code === "too_many_leases") {
        socket.close(4100);
      }
      if ("lease" in message && message.lease !== undefined) {
        const { study, trial, attempt, params } = message.lease;
        const { x } = JSON.parse(params) as { x: number };
        const doneAt = Date.now() + 200 + 1_000 * this.#random();
        const value = this.#isLiar ? inventedBy(attempt) : x;
        this.#attempt = { study, trial, attempt, value, doneAt };
        sentResult = false;
      }
    });
    const step = async () => {
      let beatAt = 0;
      let askedAt = Date.now();
      while (isOpen && this.#isAlive) {
        await sleep(25);
        const held = this.#attempt;
        const now = Date.now();
        if (now - heardAt > SILENCE_MS) socket.close(4100);
        if (held !== null && !sentResult && now >= held.doneAt) {
          sentResult = true;
          send(resultOf(held.attempt, held.value, { points: [[0, held.value]], next: true }));
        }
        if (held === null && now - askedAt > 400) {
          askedAt = now;
          send({ type: "ready" });
        }
        if (now >= beatAt) {
          beatAt = now + HEARTBEAT_MS;
          const pulse = { attempt: held?.attempt, progress: now % 100_000, state: "running" };
          send({ type: "heartbeat", attempts: held === null || sentResult ? [] : [pulse] });
        }
      }
    };
    const stepping = step();
    // If the close frame never arrives, the wait for it ends after this time.
    await Promise.race([over, stepping.then(() => sleep(500))]);
    isOpen = false;
    await stepping;
  }
}
