// Decides when to open the agent's connection, when to give it up, and when to send a heartbeat (R25 of
// server/docs/protocol.md). Pure: callers pass the time and the random source. Owned by machine.ts on the agent thread.

import { Backoff } from "../../base/backoff.ts";

/** The time limit from opening the socket to `welcome`. */
const OPENING_MS = 15_000;
const SILENT_HEARTBEATS = 3;
const LEAST_HEARTBEAT_MS = 1_000;
/** After a connection of at least this length, the back-off starts from the beginning. */
const GOOD_MS = 10_000;

export type LinkDue = "connect" | "silent" | "heartbeat" | null;

export class Link {
  readonly #backoff: Backoff;
  #state: "closed" | "opening" | "welcomed" = "closed";
  #retryAt: number | null = null;
  #openingUntil = 0;
  #welcomedAt = 0;
  #heartbeatMs = 0;
  #heartbeatAt = 0;
  #heardAt = 0;

  constructor(random: () => number) {
    this.#backoff = new Backoff(500, 30_000, random);
  }

  get isClosed(): boolean {
    return this.#state === "closed";
  }

  get isOpening(): boolean {
    return this.#state === "opening";
  }

  /** Whether `welcome` has come. Messages may be sent only after it. */
  get isWelcomed(): boolean {
    return this.#state === "welcomed";
  }

  /** The number of failed connections in a row, and the time of the next try; null if none is planned for later. */
  get retries(): { readonly failures: number; readonly retryAt: number | null } {
    return { failures: this.#backoff.failures, retryAt: this.#retryAt };
  }

  begin(now: number): void {
    this.#state = "opening";
    this.#retryAt = null;
    this.#openingUntil = now + OPENING_MS;
  }

  welcome(heartbeatMs: number, now: number): void {
    this.#state = "welcomed";
    this.#welcomedAt = now;
    this.hear(now);
    this.#heartbeatMs = Math.max(LEAST_HEARTBEAT_MS, heartbeatMs);
    this.beat(now);
  }

  /** Notes that a message of the server has arrived. */
  hear(now: number): void {
    this.#heardAt = now;
  }

  /** Notes that a heartbeat was sent. */
  beat(now: number): void {
    this.#heartbeatAt = now + this.#heartbeatMs;
  }

  /** Closes the connection on purpose. It is opened again only after `begin`. */
  close(): void {
    this.#state = "closed";
    this.#retryAt = null;
  }

  /** Notes that the connection was lost. The next try follows after a jittered pause of at least `leastMs`. */
  retry(now: number, leastMs = 0): void {
    if (this.#state === "welcomed" && now - this.#welcomedAt >= GOOD_MS) this.#backoff.reset();
    this.#state = "closed";
    this.#retryAt = now + leastMs + this.#backoff.nextMs();
  }

  /** Returns what the agent must do now. */
  due(now: number): LinkDue {
    if (this.#state === "closed") {
      return this.#retryAt !== null && now >= this.#retryAt ? "connect" : null;
    }
    if (this.#state === "opening") return now >= this.#openingUntil ? "silent" : null;
    if (now >= this.#silentAt) return "silent";
    return now >= this.#heartbeatAt ? "heartbeat" : null;
  }

  /** The time at which `due` changes next without an event. */
  get deadline(): number | null {
    if (this.#state === "closed") return this.#retryAt;
    if (this.#state === "opening") return this.#openingUntil;
    return Math.min(this.#heartbeatAt, this.#silentAt);
  }

  get #silentAt(): number {
    return this.#heardAt + SILENT_HEARTBEATS * this.#heartbeatMs;
  }
}
