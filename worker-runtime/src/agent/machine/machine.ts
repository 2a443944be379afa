// The agent's state machine. It takes an event and the time, and returns actions. It decides when to join, connect,
// pause and stop (the device's part of R6, R8, R21, R22, R25 in server/docs/protocol.md); work.ts decides about leases
// and results. Pure: no socket, no timer, no thread of its own. Owned by the agent thread (agent.ts).
//
//     for (const action of machine.handle(event, performance.now())) perform(action);
//     setTimeout(tick, machine.nextDeadline() - performance.now());

import { Backoff } from "../../base/backoff.ts";
import {
  type Capabilities,
  type ClientMessage,
  PROTOCOL_VERSION,
  type ServerMessage,
  type ServerMessages,
  type WaitReason,
} from "../../protocol/index.ts";
import type { Attempt } from "./attempt.ts";
import type { AgentAction, AgentEvent, Device, EventOf } from "./events.ts";
import type { Finished } from "./finished.ts";
import { Link } from "./link.ts";
import { Rest } from "./rest.ts";
import { Work } from "./work.ts";

/** The time for which a hidden page waits for the acknowledgement of a finished trial before it disconnects. */
const LINGER_MS = 3_000;
/** The shortest pause before the next try if the server is full. */
const FULL_MS = 5_000;
/** The agent's own close code for a silent server. Code 1000 would release the lease (R22). */
export const CLOSE_SILENT = 4100;
/** After a restart of the server, devices reconnect at random moments in this time. */
const RESTART_SPREAD_MS = 3_000;
const CLOSE_CLEAN = 1000;
const CLOSE_RESTART = 1012;
const CLOSE_TRY_LATER = 1013;
const CLOSE_REPLACED = 4001;
const CLOSE_DEVICE_REVOKED = 4003;

export interface MachineOptions {
  readonly agent: string;
  /** The device's capabilities. They are read for each session, because the graphics device is known only later. */
  readonly capabilities: () => Capabilities;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  /** Returns the liveness counter of the python thread. */
  readonly readProgress: () => number;
  /** Returns whether Python is parked. */
  readonly readParked: () => boolean;
}

/** The volunteer's wish, or the reason why the work has ended for good. */
export type Mode =
  | { readonly kind: "idle" | "working" | "hidden" | "stopped" | "replaced" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

export class Machine {
  readonly #options: MachineOptions;
  readonly #link: Link;
  readonly #work: Work;
  readonly #rejoin: Backoff;
  #actions: AgentAction[] = [];
  #mode: Mode = { kind: "idle" };
  #device: Device | null = null;
  #hasRejoined = false;
  #isJoining = false;
  #joinAt: number | null = null;
  #lingerUntil: number | null = null;
  #rest: Rest | null = null;
  #assets = { loaded: 0, total: 0 };

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#link = new Link(options.random);
    this.#rejoin = new Backoff(1_000, 30_000, options.random);
    const machine = this;
    this.#work = new Work(
      {
        get isConnected() {
          return machine.#link.isWelcomed;
        },
        get isWorking() {
          return machine.#mode.kind === "working";
        },
        act: (action) => machine.#act(action),
        fail: (code, message) => machine.#fail(code, message),
        reconnect: (now) => machine.#dropLink(now),
      },
      options.random,
    );
  }

  get mode(): Mode {
    return this.#mode;
  }

  get device(): Device | null {
    return this.#device;
  }

  get attempt(): Attempt | null {
    return this.#work.attempt;
  }

  get isConnected(): boolean {
    return this.#link.isWelcomed;
  }

  /**
   * The finished attempt whose result the server may not have; null if there is none, and undefined if all work has
   * ended: what was stored then stays for the next visit.
   */
  get undelivered(): Finished | null | undefined {
    const { kind } = this.#mode;
    if (kind !== "working" && kind !== "hidden") return undefined;
    return this.#work.attempt?.finished ?? null;
  }

  /** Whether the attempt is kept for a volunteer who is away. */
  get isKept(): boolean {
    return this.#rest !== null;
  }

  /** The reason why there is no work; null if the server has not given it yet. */
  get waiting(): WaitReason | null {
    return this.#work.waiting;
  }

  /** The study that was not taken because of the limits on data; null if there is none. */
  get refused(): Work["refused"] {
    return this.#work.refused;
  }

  get stoppedStudy(): string | null {
    return this.#work.stoppedStudy;
  }

  /** The number of failed connections in a row, and the time of the next try (null: it runs now). */
  get connecting(): Link["retries"] {
    return this.#link.retries;
  }

  /** The number of bytes of the attempt's files: those that are loaded, and all. */
  get assets(): { readonly loaded: number; readonly total: number } {
    return this.#assets;
  }

  handle(event: AgentEvent, now: number): readonly AgentAction[] {
    this.#actions = [];
    this.#dispatch(event, now);
    this.#work.sendFresh(now);
    // The attempt that was kept is finished and delivered, or was revoked.
    if (this.#rest !== null && this.#work.attempt === null) this.#endRest();
    return this.#actions;
  }

  /** The time of the next `tick`; null if nothing changes without an event. */
  nextDeadline(): number | null {
    const own = [this.#link.deadline, this.#joinAt, this.#lingerUntil];
    const all = [...own, ...(this.#rest?.deadlines ?? []), ...this.#work.deadlines];
    const deadlines = all.filter((deadline) => deadline !== null);
    return deadlines.length === 0 ? null : Math.min(...deadlines);
  }

  #dispatch(event: AgentEvent, now: number): void {
    switch (event.kind) {
      case "start":
        this.#onStart(event, now);
        break;
      case "hidden":
        this.#onHidden(now);
        break;
      case "visible":
        this.#onVisible(now);
        break;
      case "left":
        this.#onLeft(now);
        break;
      case "stop":
        this.#onStop();
        break;
      case "tick":
        this.#onTick(now);
        break;
      case "joined":
        this.#onJoined(event.device, now);
        break;
      case "join_failed":
        this.#onJoinFailed(event, now);
        break;
      case "opened":
        this.#sayHello();
        break;
      case "message":
        this.#onMessage(event.message, now);
        break;
      case "closed":
        this.#onClosed(event.code, now);
        break;
      case "loading":
        this.#assets = { loaded: event.loaded, total: event.total };
        break;
      case "running":
        this.#work.onRunning(event, now);
        break;
      case "report":
        this.#work.onReport(event, now);
        break;
      case "log":
        this.#work.onLog(event, now);
        break;
      case "call":
        this.#work.onCall(event);
        break;
      case "upload":
        this.#work.onUpload(event, now);
        break;
      case "uploaded":
        this.#work.onUploaded(event, now);
        break;
      case "output":
        this.#work.onOutput(event, now);
        break;
      case "outcome":
        this.#work.onOutcome(event, now);
        break;
      case "cannot_run":
        this.#work.onCannotRun(event, now);
        break;
      case "too_much_data":
        this.#work.onTooMuchData(event, now);
        break;
      case "data_allowed":
        this.#onDataAllowed(now);
        break;
      case "crashed":
        this.#work.onCrashed(event, now);
        break;
      default:
        event satisfies never;
    }
  }

  // ---- events of the volunteer and the page

  #onStart(event: EventOf<"start">, now: number): void {
    this.#device = event.device;
    if (event.finished != null) this.#work.restore(event.finished, now);
    if (event.kept != null) this.#work.restoreKept(event.kept);
    this.#mode = { kind: event.visible ? "working" : "hidden" };
    if (event.visible) this.#begin(now);
  }

  /** Begins the work. Python loads while the device joins and connects. */
  #begin(now: number): void {
    this.#act({ kind: "warm" });
    if (this.#device === null) this.#join();
    else this.#connect(now);
  }

  #join(): void {
    this.#joinAt = null;
    if (this.#isJoining) return;
    this.#isJoining = true;
    this.#act({ kind: "join" });
  }

  #onJoined(device: Device, now: number): void {
    this.#isJoining = false;
    this.#device = device;
    if (this.#mode.kind === "working") this.#connect(now);
  }

  #onJoinFailed(event: EventOf<"join_failed">, now: number): void {
    this.#isJoining = false;
    if (event.permanent) this.#fail(event.code, event.message);
    else if (this.#mode.kind === "working") this.#joinAt = now + this.#rejoin.nextMs();
  }

  #onHidden(now: number): void {
    if (this.#mode.kind !== "working") return;
    this.#mode = { kind: "hidden" };
    this.#joinAt = null;
    const { attempt } = this.#work;
    if (attempt !== null && attempt.result === null) {
      this.#rest = new Rest(attempt, now);
      this.#act({ kind: "leaving", isLeaving: true });
    } else if (attempt !== null && this.#link.isWelcomed) {
      this.#lingerUntil = now + LINGER_MS;
    } else {
      this.#disconnect(CLOSE_CLEAN);
    }
  }

  #onVisible(now: number): void {
    if (this.#mode.kind !== "hidden") return;
    this.#mode = { kind: "working" };
    this.#lingerUntil = null;
    if (this.#rest !== null) this.#wake();
    if (this.#link.isWelcomed) this.#work.ask(now);
    else this.#begin(now);
  }

  /** The attempt is given back now, because no code of a page that was left may run later. */
  #onLeft(now: number): void {
    this.#onHidden(now);
    if (this.#rest !== null) this.#giveBack(now);
  }

  /** Python goes on with the attempt that was kept. */
  #wake(): void {
    this.#rest = null;
    this.#act({ kind: "leaving", isLeaving: false });
    this.#act({ kind: "park", wanted: false });
  }

  #endRest(): void {
    this.#wake();
    this.#disconnect(CLOSE_CLEAN);
  }

  #giveBack(now: number): void {
    // A finished attempt is kept, because its result can still be delivered.
    if (this.#work.attempt?.result === null) this.#work.release("page_hidden", now);
    this.#endRest();
  }

  #onRestTick(rest: Rest, now: number): void {
    // Python that loads, or waits for an answer, is parked when it goes on.
    const computes = this.#work.attempt?.state === "running" && !this.#options.readParked();
    const due = rest.due(now, computes);
    if (due === "park") this.#act({ kind: "park", wanted: true });
    else if (due === "give_back") this.#giveBack(now);
  }

  #onStop(): void {
    if (this.#mode.kind === "stopped") return;
    this.#work.abandon("stopped");
    this.#endWork({ kind: "stopped" });
    this.#act({ kind: "end" });
  }

  /** Ends all work: the connection, Python and every timer. */
  #endWork(mode: Mode): void {
    this.#mode = mode;
    this.#rest = null;
    this.#work.abandon(null);
    this.#joinAt = null;
    this.#disconnect(CLOSE_CLEAN);
    this.#act({ kind: "terminate" });
  }

  #fail(code: string, message: string): void {
    const { kind } = this.#mode;
    const isOver = kind === "stopped" || kind === "replaced" || kind === "failed";
    if (!isOver) this.#endWork({ kind: "failed", code, message });
  }

  /** The server offers a study that was refused only in a new session. */
  #onDataAllowed(now: number): void {
    if (!this.#work.forgetRefused() || this.#mode.kind !== "working") return;
    if (this.#work.attempt !== null) return;
    this.#disconnect(CLOSE_CLEAN);
    this.#connect(now);
  }

  // ---- the connection

  #connect(now: number): void {
    if (!this.#link.isClosed) return;
    this.#link.begin(now);
    this.#act({ kind: "open" });
  }

  #disconnect(code: number): void {
    this.#lingerUntil = null;
    if (!this.#link.isClosed) this.#act({ kind: "close", code });
    this.#link.close();
  }

  /** Replaces the socket without a clean close, so that the device keeps its lease (R22). */
  #dropLink(now: number, leastMs = 0): void {
    this.#act({ kind: "close", code: CLOSE_SILENT });
    this.#lose(now, leastMs);
  }

  #lose(now: number, leastMs = 0): void {
    this.#lingerUntil = null;
    if (this.#mode.kind === "working" || this.#rest !== null) this.#link.retry(now, leastMs);
    else this.#link.close();
    this.#work.lose();
  }

  #sayHello(): void {
    const device = this.#device;
    if (!this.#link.isOpening || device === null) return;
    const { attempt } = this.#work;
    this.#send({
      type: "hello",
      protocol: PROTOCOL_VERSION,
      role: "device",
      device: device.device,
      secret: device.secret,
      agent: this.#options.agent,
      capabilities: this.#options.capabilities(),
      attempts: attempt === null ? [] : [attempt.id],
    });
  }

  #onClosed(code: number, now: number): void {
    if (this.#link.isClosed) return;
    if (code === CLOSE_REPLACED) {
      this.#link.close();
      this.#endWork({ kind: "replaced" });
    } else if (code === CLOSE_DEVICE_REVOKED) {
      this.#link.close();
      this.#fail("device_revoked", "The project's operator removed this device.");
    } else {
      this.#lose(now, this.#leastPauseMs(code));
    }
  }

  /** Returns the shortest pause that the server's close code requires. */
  #leastPauseMs(code: number): number {
    if (code === CLOSE_RESTART) return RESTART_SPREAD_MS * this.#options.random();
    return code === CLOSE_TRY_LATER ? FULL_MS : 0;
  }

  #onTick(now: number): void {
    if (this.#joinAt !== null && now >= this.#joinAt) this.#join();
    if (this.#lingerUntil !== null && now >= this.#lingerUntil) this.#disconnect(CLOSE_CLEAN);
    if (this.#rest !== null) this.#onRestTick(this.#rest, now);
    const due = this.#link.due(now);
    switch (due) {
      case "connect":
        this.#connect(now);
        break;
      case "silent":
        this.#dropLink(now);
        break;
      case "heartbeat":
        this.#sendHeartbeat(now);
        break;
      case null:
        break;
      default:
        due satisfies never;
    }
    this.#work.tick(now);
  }

  #sendHeartbeat(now: number): void {
    this.#link.beat(now);
    const attempts = this.#work.pulses(this.#options.readProgress());
    this.#send({ type: "heartbeat", attempts });
  }

  // ---- what the server says

  #onMessage(message: ServerMessage, now: number): void {
    if (this.#link.isClosed) return;
    this.#link.hear(now);
    switch (message.type) {
      case "welcome":
        this.#onWelcome(message, now);
        break;
      case "refused":
        this.#onRefused(message, now);
        break;
      case "lease":
        this.#work.onLease(message.lease, now);
        break;
      case "wait":
        this.#work.onWait(message, now);
        break;
      case "ack":
        this.#work.onAck(message);
        break;
      case "result_ack":
        this.#work.onResultAck(message, now);
        // A hidden page stayed connected only for this acknowledgement, so it disconnects now.
        if (this.#lingerUntil !== null && this.#work.attempt === null) {
          this.#disconnect(CLOSE_CLEAN);
        }
        break;
      case "reply":
        this.#work.onReply(message);
        break;
      case "error":
        this.#work.onError(message, now);
        break;
      case "revoke":
        this.#work.onRevoke(message, now);
        break;
      case "update":
      case "log":
      case "call":
        break; // These messages are for researchers.
      default:
        message satisfies never;
    }
  }

  #onWelcome(message: ServerMessages["welcome"], now: number): void {
    this.#link.welcome(message.heartbeat_ms, now);
    if (this.#work.resume(message.attempts, now)) this.#sendHeartbeat(now);
  }

  #onRefused(message: ServerMessages["refused"], now: number): void {
    switch (message.code) {
      case "bad_token":
        this.#onBadToken(message);
        break;
      case "full":
      case "rate_limited":
        this.#dropLink(now, FULL_MS);
        break;
      default:
        this.#fail(message.code, message.message);
    }
  }

  /**
   * The project does not know this device, for example because its database is new. The agent joins once more, as a new
   * device.
   */
  #onBadToken(message: ServerMessages["refused"]): void {
    this.#act({ kind: "forget_device" });
    if (this.#hasRejoined) {
      this.#fail(message.code, message.message);
      return;
    }
    this.#hasRejoined = true;
    this.#device = null;
    this.#work.abandon(null);
    this.#disconnect(CLOSE_CLEAN);
    this.#act({ kind: "terminate" });
    this.#act({ kind: "warm" });
    this.#join();
  }

  // ---- out

  #send(message: ClientMessage): void {
    this.#act({ kind: "send", message });
  }

  #act(action: AgentAction): void {
    this.#actions.push(action);
  }
}
