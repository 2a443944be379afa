// Asks for a lease, runs it, reports, and releases it (the device's part of R14, R15, R17, R21, R26, R27, R43 in
// server/docs/protocol.md). Pure: callers pass the time, and actions go to `Surroundings`. Owned by machine.ts on the
// agent thread.

import { Backoff } from "../../base/backoff.ts";
import { answerText, errorText } from "../../channel/block.ts";
import type { TooMuchData } from "../../governor/data_limits.ts";
import type {
  Lease,
  Pulse,
  ReleaseReason,
  ServerMessages,
  WaitReason,
} from "../../protocol/index.ts";
import { Attempt, type Computer, MESSAGE_REFUSED } from "./attempt.ts";
import type { AgentAction, EventOf } from "./events.ts";
import type { Finished } from "./finished.ts";
import type { KeptCheckpoint } from "./kept_checkpoint.ts";
import { crashOutcome, type Outcome } from "./outcome.ts";
import { Saving } from "./saving.ts";

/**
 * The time in which an interrupted python thread may end by itself. A stop should take at most a second, and its other
 * steps need the rest of that second.
 */
export const INTERRUPT_GRACE_MS = 400;
/** If no answer to `ready`, or to a result that asked for more work, has come after this time, the agent asks again. */
const ASK_AGAIN_MS = 10_000;
/** The time for which an idle Python thread is kept while a sampler chooses the study's next trial. */
export const SAMPLER_MS = 10_000;
const CANNOT_RUN_LIMIT = 3;
const RESEND_LIMIT = 8;
/** Stands for the back end of an attempt that ended before it reported its back end and versions. */
const NOBODY: Computer = { backend: "", software: "" };

export interface Surroundings {
  /** Whether messages may be sent. */
  readonly isConnected: boolean;
  /** Whether the volunteer wants work and the page is visible. */
  readonly isWorking: boolean;
  act(action: AgentAction): void;
  /** Ends the work, because it cannot succeed in this browser. */
  fail(code: string, message: string): void;
  /** Requests a new connection. */
  reconnect(now: number): void;
}

export class Work {
  readonly #around: Surroundings;
  readonly #afterFailure: Backoff;
  readonly #saving: Saving;
  #attempt: Attempt | null = null;
  /** An interrupted attempt whose Python code has not ended yet. */
  #ending: { readonly attempt: number; readonly killAt: number } | null = null;
  #askAt: number | null = null;
  #waiting: WaitReason | null = null;
  // The study that an administrator has stopped here, and whether another attempt has begun since.
  #stopped: { readonly study: string; readonly hasNext: boolean } | null = null;
  /**
   * Whether the last attempt was of an Optuna study. Its next trial exists only after the sampler knows the result of
   * this one.
   */
  #wasAsked = false;
  #idleAt: number | null = null;
  #refused: (TooMuchData & { readonly study: string }) | null = null;
  readonly #refusedStudies = new Set<number>();
  #callId = 0;
  #cannotRun = 0;

  constructor(around: Surroundings, random: () => number) {
    this.#around = around;
    this.#saving = new Saving(around);
    this.#afterFailure = new Backoff(5_000, 60_000, random);
  }

  get attempt(): Attempt | null {
    return this.#attempt;
  }

  /** Continues with a result that an earlier visit could not deliver. */
  restore(finished: Finished, now: number): void {
    this.#attempt = Attempt.restore(finished, now);
  }

  /** Remembers the checkpoint that an earlier visit has kept on this device. */
  restoreKept(kept: KeptCheckpoint): void {
    this.#saving.restore(kept);
  }

  /** The reason why there is no work; null if the server has not given it yet. */
  get waiting(): WaitReason | null {
    return this.#waiting;
  }

  /** The last study that was not taken because of the limits on data; null if there is none. */
  get refused(): (TooMuchData & { readonly study: string }) | null {
    return this.#refused;
  }

  /** The name of the study that an administrator has stopped here (R67); null once another trial is over. */
  get stoppedStudy(): string | null {
    return this.#stopped?.study ?? null;
  }

  /** Returns the attempts that a heartbeat names. A finished attempt is left out, because it needs no lease. */
  pulses(progress: number): Pulse[] {
    const attempt = this.#attempt;
    if (attempt === null || attempt.result !== null) return [];
    return [{ attempt: attempt.id, progress, state: attempt.state }];
  }

  get deadlines(): readonly (number | null)[] {
    const killAt = this.#ending?.killAt ?? null;
    const always = [killAt, this.#idleAt, ...this.#saving.deadlines];
    if (!this.#around.isConnected) return [...always, this.#limitAt];
    const attempt = this.#attempt;
    return [...always, this.#askAt, attempt?.flushAt ?? null, attempt?.resendAt ?? null];
  }

  // ---- events of the clock and the connection

  tick(now: number): void {
    if (this.#ending !== null && now >= this.#ending.killAt) {
      this.#replacePython();
      this.#onEnded(now);
    }
    if (this.#limitAt !== null && now >= this.#limitAt) this.#endAtLimit(now);
    if (this.#idleAt !== null && now >= this.#idleAt) this.#idle();
    this.#saving.tick(now);
    if (!this.#around.isConnected) return;
    if (this.#askAt !== null && now >= this.#askAt) this.ask(now);
    this.#attempt?.flush(now);
    const resendAt = this.#attempt?.resendAt ?? null;
    if (resendAt !== null && now >= resendAt) this.#sendAgain(now);
  }

  /** Sends the messages that were made since the last event. */
  sendFresh(now: number): void {
    if (!this.#around.isConnected || this.#attempt === null) return;
    for (const message of this.#attempt.takeFresh(now)) this.#send(message);
  }

  /**
   * Begins a session in which the device still leases the attempts `leased`. Returns true if an attempt continues.
   */
  resume(leased: readonly number[], now: number): boolean {
    const attempt = this.#attempt;
    if (attempt !== null && attempt.result === null && !leased.includes(attempt.id)) {
      // R21: the lease is lost, and another device may have the trial. But a finished attempt's result is still sent (R12).
      this.#drop(now);
    } else if (attempt !== null) {
      for (const message of attempt.takeUnacknowledged(now)) this.#send(message);
      this.#saving.next(now);
    }
    this.ask(now);
    return this.#attempt?.result === null;
  }

  /** The connection is lost. */
  lose(): void {
    this.#saving.lost();
  }

  ask(now: number): void {
    this.#askAt = null;
    const isFree = this.#attempt === null && this.#ending === null;
    if (!isFree || !this.#around.isConnected || !this.#around.isWorking) return;
    this.#askAt = now + ASK_AGAIN_MS;
    this.#send({ type: "ready" });
  }

  /** Releases the attempt, and stops it. */
  release(reason: ReleaseReason, now: number): void {
    this.#sayRelease(reason);
    this.#drop(now);
  }

  /** Releases the attempt. The caller must end Python. */
  abandon(reason: ReleaseReason | null): void {
    if (reason !== null && this.#attempt?.result === null) this.#sayRelease(reason);
    this.#saving.end(this.#attempt, true);
    this.#attempt = null;
    this.#ending = null;
    this.#askAt = null;
    this.#idleAt = null;
  }

  // ---- what the server says

  onLease(lease: Lease, now: number): void {
    if (this.#attempt?.id === lease.attempt) return; // the server has sent the same lease again
    if (!this.#around.isWorking || this.#attempt !== null) {
      const reason = this.#around.isWorking ? "cannot_run" : "page_hidden";
      this.#send(new Attempt(lease, now).release(reason));
      return;
    }
    this.#attempt = new Attempt(lease, now);
    this.#stopped = this.#stopped?.hasNext === false ? { ...this.#stopped, hasNext: true } : null;
    this.#askAt = null;
    this.#waiting = null;
    this.#idleAt = null;
    this.#wasAsked = lease.asked === true;
    // An interrupted attempt may still be ending. In that case #onEnded starts the new attempt.
    if (this.#ending === null) this.#run(lease);
  }

  #run(lease: Lease): void {
    const restart = this.#saving.restartFor(lease);
    this.#around.act({ kind: "run", lease, ...(restart && { kept: restart.kept }) });
  }

  onWait(message: ServerMessages["wait"], now: number): void {
    if (!this.#around.isWorking || this.#attempt !== null) return;
    this.#waiting = message.reason;
    this.#askAt = now + message.delay_ms;
    if (this.#wasAsked) this.#idleAt ??= now + SAMPLER_MS;
    else if (this.#ending === null) this.#idle();
  }

  onAck(message: ServerMessages["ack"]): void {
    if (message.seq === undefined || message.attempt !== this.#attempt?.id) return;
    if (this.#attempt?.acknowledge(message.seq)) this.#sayTaken();
  }

  onResultAck(message: ServerMessages["result_ack"], now: number): void {
    const attempt = this.#attempt;
    if (attempt?.result?.seq === message.seq && attempt.id === message.attempt) {
      if (attempt.result.outcome !== "failed") {
        this.#around.act({ kind: "contributed", runMs: attempt.runMs });
      }
      this.#attempt = null;
      this.#waiting = null;
      this.#cannotRun = 0;
      // R15: the result asked for more work, so the server sends `wait` or a lease. If that is lost, the agent asks
      // again.
      if (attempt.result.next) this.#askAt = now + ASK_AGAIN_MS;
      else this.ask(now);
    }
    if (message.lease !== undefined) this.onLease(message.lease, now);
  }

  onReply(reply: ServerMessages["reply"]): void {
    const isText = "text" in reply;
    if (isText && this.#attempt?.call?.message.id === reply.id) {
      this.#attempt.noteSuggestion(reply.text);
    }
    this.#answer(reply.id, answerText(isText ? reply.text : reply.value));
  }

  #answer(id: number, text: string): void {
    const call = this.#attempt?.call;
    if (call?.message.id !== id) return;
    this.#attempt?.closeCall();
    this.#sayTaken();
    this.#around.act({ kind: "answer", sequence: call.sequence, text });
  }

  onError(message: ServerMessages["error"], now: number): void {
    if (message.code === "no_owner" && message.id === this.#attempt?.call?.message.id) {
      // R43: the study's owner, who would answer the call, is not connected. Another device may later continue from the
      // newest checkpoint.
      this.release("no_owner", now);
      return;
    }
    if (message.id !== undefined) {
      this.#answer(message.id, errorText(message.code, message.message));
    }
    if (message.seq !== undefined && message.attempt === this.#attempt?.id)
      this.#endRefused(message.seq, message, now);
    if (message.code === "unknown_attempt" && message.attempt === this.#attempt?.id) {
      this.#drop(now);
      this.ask(now);
    }
    if (message.code === "too_many_leases" && this.#attempt === null) {
      // The server counts an attempt as leased to this device, but the device does not have it. A new `hello` that does
      // not name the attempt releases it (R21).
      this.#around.reconnect(now);
    }
  }

  onRevoke(message: ServerMessages["revoke"], now: number): void {
    const attempt = this.#attempt;
    // If the attempt has a result, the result is being sent. Its acknowledgement will say whether it was accepted.
    if (attempt?.id !== message.attempt || attempt.result !== null) return;
    if (message.code === "operator_stopped")
      this.#stopped = { study: attempt.lease.study_name, hasNext: false };
    // Another attempt of the trial follows only after `stalled`.
    this.#drop(now, message.code === "stalled");
    this.ask(now);
  }

  // ---- what Python does

  onRunning(event: EventOf<"running">, now: number): void {
    const attempt = this.#attempt;
    if (attempt === null || !this.#runs(event.attempt)) return;
    attempt.run(now);
    const restart = event.fromKept === true ? this.#saving.restartFor(attempt.lease) : null;
    if (restart === null) return;
    this.#saving.continue(attempt, restart, now);
    this.#sendAll(attempt, now);
    this.#saving.next(now);
  }

  onReport(event: EventOf<"report">, now: number): void {
    if (this.#runs(event.attempt)) this.#attempt?.report([event.step, event.value], now);
  }

  onLog(event: EventOf<"log">, now: number): void {
    if (this.#runs(event.attempt)) this.#attempt?.log(event.row, now);
  }

  onCall(event: EventOf<"call">): void {
    if (!this.#runs(event.attempt)) return;
    const { asked, sequence } = event;
    if ("code" in asked) {
      this.#around.act({ kind: "answer", sequence, text: errorText(asked.code, asked.message) });
      return;
    }
    this.#callId += 1;
    this.#attempt?.openCall(sequence, this.#callId, asked);
  }

  /**
   * Sends earlier points and rows before the upload. If the upload is a checkpoint, the next attempt may begin with it,
   * and the curve and the series of that attempt then begin with these points and rows.
   */
  onUpload(event: EventOf<"upload">, now: number): void {
    const attempt = this.#attempt;
    if (attempt === null || !this.#runs(event.attempt)) return;
    const { head, sequence } = event;
    if ("code" in head) {
      this.#around.act({ kind: "answer", sequence, text: errorText(head.code, head.message) });
      return;
    }
    this.#sendAll(attempt, now);
    this.#saving.upload(attempt, event, head, now);
  }

  #sendAll(attempt: Attempt, now: number): void {
    attempt.flushAll();
    this.sendFresh(now);
  }

  onUploaded({ id, result }: EventOf<"uploaded">, now: number): void {
    this.#saving.uploaded(id, result, now);
  }

  onOutput(event: EventOf<"output">, now: number): void {
    if (this.#runs(event.attempt)) this.#attempt?.print(event.text, now);
  }

  onOutcome(event: EventOf<"outcome">, now: number): void {
    if (this.#ending?.attempt === event.attempt) {
      this.#onEnded(now);
    } else if (this.#runs(event.attempt)) {
      this.#saving.end(this.#attempt, mayGoOn(event.outcome));
      this.#attempt?.finish(event.outcome, event.runMs, this.#around.isWorking, event);
    }
  }

  onCannotRun(event: EventOf<"cannot_run">, now: number): void {
    if (!this.#runs(event.attempt)) return;
    this.release("cannot_run", now);
    this.#cannotRun += 1;
    if (this.#cannotRun >= CANNOT_RUN_LIMIT) this.#around.fail(event.code, event.message);
    else this.#askAt = now + this.#afterFailure.nextMs();
  }

  /** The study may be taken once the volunteer allows more data. Until then, this session gets others (R41). */
  onTooMuchData(event: EventOf<"too_much_data">, now: number): void {
    const attempt = this.#attempt;
    if (attempt === null || !this.#runs(event.attempt)) return;
    const { study, study_name: name } = attempt.lease;
    this.#refused = { ...event.why, study: name };
    this.release("cannot_run", now);
    // The server offers it again only if it remembers no more refusals.
    const isAgain = this.#refusedStudies.has(study);
    this.#refusedStudies.add(study);
    if (isAgain) this.#askAt = now + this.#afterFailure.nextMs();
    else this.ask(now);
  }

  /** Forgets the studies that were refused because of their data. Returns whether there were any. */
  forgetRefused(): boolean {
    const hadSome = this.#refusedStudies.size > 0;
    this.#refused = null;
    this.#refusedStudies.clear();
    return hadSome;
  }

  onCrashed(event: EventOf<"crashed">, now: number): void {
    this.#replacePython();
    const { attempt, code, message } = event;
    const outcome = crashOutcome(code, message);
    const runMs = now - (this.#attempt?.runningAt ?? now);
    this.onOutcome({ kind: "outcome", attempt, outcome, runMs, ...NOBODY }, now);
  }

  // ---- private

  /** Returns whether Python runs this attempt or is about to. Late messages about other attempts are ignored. */
  #runs(attempt: number): boolean {
    return this.#attempt?.id === attempt && this.#attempt.result === null;
  }

  /**
   * Stops the attempt without a message to the server. `keeps` is whether another attempt of the trial may follow here.
   */
  #drop(now: number, keeps = true): void {
    const attempt = this.#attempt;
    this.#saving.end(attempt, keeps);
    this.#attempt = null;
    if (attempt === null || attempt.result !== null) return;
    if (attempt.state === "loading") {
      this.#around.act({ kind: "abort", attempt: attempt.id });
    } else {
      this.#interrupt(attempt, now);
    }
  }

  /** The time at which the agent must end the trial. Null while it is connected: the server then ends trials (R23). */
  get #limitAt(): number | null {
    const attempt = this.#attempt;
    if (this.#around.isConnected || attempt === null || attempt.result !== null) return null;
    const { time_limit_ms } = attempt.lease;
    if (attempt.runningAt === null || time_limit_ms === 0) return null;
    return attempt.runningAt + time_limit_ms;
  }

  /** Stops the attempt, and keeps its failure for the next connection. */
  #endAtLimit(now: number): void {
    const attempt = this.#attempt;
    if (attempt === null) return;
    const message = "The trial took longer than its study allows.";
    const error = { cause: "timeout" as const, code: "time_limit", message, traceback: "" };
    const runMs = now - (attempt.runningAt ?? now);
    this.#saving.end(attempt, false);
    attempt.finish({ outcome: "failed", error }, runMs, this.#around.isWorking, NOBODY);
    this.#interrupt(attempt, now);
  }

  /**
   * R3: The server cannot read a message of the attempt, and it could not do so later. So the attempt ends as failed, and
   * the message is not sent again.
   */
  #endRefused(seq: number, refusal: ServerMessages["error"], now: number): void {
    const attempt = this.#attempt;
    if (!attempt?.discard(seq)) return;
    if (attempt.isRefused) {
      // The server could not read the failure either.
      this.release("cannot_run", now);
      this.ask(now);
      return;
    }
    const runs = attempt.result === null;
    const field = refusal.field === undefined ? "" : ` (${refusal.field})`;
    const message = `The server refused a message of this trial: ${refusal.message}${field}`;
    const error = { cause: "invalid" as const, code: MESSAGE_REFUSED, message, traceback: "" };
    const runMs = runs ? now - (attempt.runningAt ?? now) : attempt.runMs;
    this.#saving.end(attempt, false);
    attempt.finish({ outcome: "failed", error }, runMs, this.#around.isWorking, NOBODY);
    if (runs) this.#interrupt(attempt, now);
    this.#sendAll(attempt, now);
  }

  #idle(): void {
    this.#idleAt = null;
    this.#wasAsked = false;
    if (this.#attempt === null) this.#around.act({ kind: "idle" });
  }

  #interrupt(attempt: Attempt, now: number): void {
    this.#ending = { attempt: attempt.id, killAt: now + INTERRUPT_GRACE_MS };
    this.#around.act({ kind: "interrupt", attempt: attempt.id });
  }

  /** Handles the end of an interrupted attempt. Python is free afterwards. */
  #onEnded(now: number): void {
    this.#ending = null;
    const next = this.#attempt;
    if (next === null) this.ask(now);
    else if (next.result === null) this.#run(next.lease);
  }

  #replacePython(): void {
    this.#around.act({ kind: "terminate" });
    if (this.#around.isWorking) this.#around.act({ kind: "warm" });
  }

  #sendAgain(now: number): void {
    const attempt = this.#attempt;
    if (attempt === null) return;
    if (attempt.resends < RESEND_LIMIT) {
      for (const message of attempt.takeAgain(now)) this.#send(message);
    } else {
      // The connection works, but the server did not acknowledge messages that were sent several times. Another device
      // may have more success.
      this.release("cannot_run", now);
      this.ask(now);
    }
  }

  #sayRelease(reason: ReleaseReason): void {
    if (this.#attempt !== null && this.#around.isConnected)
      this.#send(this.#attempt.release(reason));
  }

  #sayTaken(): void {
    if (this.#attempt !== null) this.#around.act({ kind: "taken", points: this.#attempt.taken });
  }

  #send(message: Extract<AgentAction, { kind: "send" }>["message"]): void {
    this.#around.act({ kind: "send", message });
  }
}

/** Returns whether another attempt of the trial may follow after this outcome. */
function mayGoOn(outcome: Outcome): boolean {
  if (outcome.outcome !== "failed") return false;
  const { cause } = outcome.error;
  return cause === "device_lost" || cause === "out_of_memory" || cause === "worker_lost";
}
