// The agent's state of one attempt: what was reported, what the server acknowledged, and what must be sent again. Pure:
// callers pass the time. Owned by machine.ts on the agent thread.

import {
  MAX_CODE,
  MAX_LINE,
  MAX_LINES,
  MAX_MESSAGE,
  MAX_POINTS,
  MAX_TRACEBACK_BYTES,
} from "../../protocol/limits.ts";
import type {
  ClientMessages,
  Failure,
  Lease,
  Point,
  Pulse,
  ReleaseReason,
  TrialResult,
} from "../../protocol/messages.ts";
import type { AskedCall } from "./asked_call.ts";
import type { Finished } from "./finished.ts";
import { History } from "./history.ts";
import type { Outcome } from "./outcome.ts";
import { type LoggedRow, SeriesBatch, SeriesLimits } from "./series.ts";

/** The time for which points and rows are collected before they are sent. */
export const FLUSH_MS = 1_000;
const RESEND_MS = 10_000;
const RESEND_MOST_MS = 60_000;
const CURVE_POINTS = 200;
/** The code of an attempt that failed because the server could not read one of its messages (R3). */
export const MESSAGE_REFUSED = "message_refused";
/** The most lines that may wait to be sent. The server keeps no more lines of a trial than this (R39). */
const WAITING_LINES = 1_000;
const WAITING_CHARACTERS = 131_072;

type Outgoing =
  | ClientMessages["report"]
  | ClientMessages["call"]
  | ClientMessages["output"]
  | TrialResult;

/** The back end that computed an attempt (array-core's or NumPy), and versions (R52). An empty text means unknown. */
export interface Computer {
  readonly backend: string;
  readonly software: string;
}

/** A report without an acknowledgement, and the number of points and rows in it. */
interface SentReport {
  readonly message: ClientMessages["report"];
  readonly given: number;
}

interface OpenCall {
  readonly message: ClientMessages["call"];
  /** The sequence number of the call in the call channel. */
  readonly sequence: number;
}

export class Attempt {
  readonly lease: Lease;
  readonly leasedAt: number;
  /** What was reported since the newest checkpoint that the server has. */
  readonly history: History;
  #repeated = 0;
  #runningAt: number | null = null;
  #seq = 0;
  #unsent: Point[] = [];
  #oldestUnsentAt = 0;
  readonly #rows = new SeriesBatch();
  readonly #limits = new SeriesLimits();
  #unsentRows = 0;
  #reports: SentReport[] = [];
  #fresh: Outgoing[] = [];
  #call: OpenCall | null = null;
  #upload: number | null = null;
  #suggested: Readonly<Record<string, unknown>> = {};
  #lines: string[] = [];
  #lineCharacters = 0;
  #droppedLines = 0;
  #printedAt = 0;
  #result: TrialResult | null = null;
  #runMs = 0;
  #taken = 0;
  #curve: Point[] = [];
  #sentAt: number | null = null;
  #resendMs = RESEND_MS;
  #resends = 0;

  constructor(lease: Lease, now: number) {
    this.lease = lease;
    this.leasedAt = now;
    this.history = new History(lease);
  }

  /** Returns the attempt as it was when it finished. Its messages have their old numbers (R14). */
  static restore({ lease, reports, result, runMs }: Finished, now: number): Attempt {
    const attempt = new Attempt(lease, now);
    attempt.#seq = result.seq;
    attempt.#reports = reports.map((message) => ({ message, given: 0 }));
    attempt.#result = result;
    attempt.#runMs = runMs;
    return attempt;
  }

  /** What must be stored, so that the result can be delivered on a later visit; null before the end. */
  get finished(): Finished | null {
    if (this.#result === null) return null;
    const reports = this.#reports.map(({ message }) => message);
    return { lease: this.lease, reports, result: this.#result, runMs: this.#runMs };
  }

  get id(): number {
    return this.lease.attempt;
  }

  get state(): Pulse["state"] {
    if (this.#runningAt === null) return "loading";
    return this.#call === null && this.#upload === null ? "running" : "waiting_call";
  }

  /** The result that waits for its acknowledgement. */
  get result(): TrialResult | null {
    return this.#result;
  }

  get runMs(): number {
    return this.#runMs;
  }

  get runningAt(): number | null {
    return this.#runningAt;
  }

  get call(): OpenCall | null {
    return this.#call;
  }

  /** The sequence number of the upload in the call channel; null if no upload runs. */
  get upload(): number | null {
    return this.#upload;
  }

  openUpload(sequence: number): void {
    this.#upload = sequence;
  }

  closeUpload(): void {
    this.#upload = null;
  }

  /** The number of points and rows that the server has. The python thread may be ahead by a limited number. */
  get taken(): number {
    return Math.max(0, this.#taken - this.#repeated);
  }

  /** The newest points, for display. */
  get curve(): readonly Point[] {
    return this.#curve.slice(-CURVE_POINTS);
  }

  run(now: number): void {
    this.#runningAt = now;
  }

  /**
   * Reports what an earlier attempt has reported before the checkpoint with which this one begins. Python has not sent it,
   * so it does not count as taken.
   */
  repeat(points: readonly Point[], rows: readonly LoggedRow[], now: number): void {
    for (const point of points) this.report(point, now);
    for (const row of rows) this.log(row, now);
    this.#repeated = points.length + rows.length;
  }

  report(point: Point, now: number): void {
    this.history.report(point);
    if (!this.#hasUnsent) this.#oldestUnsentAt = now;
    this.#unsent.push(point);
    this.#curve.push(point);
    if (this.#unsent.length === MAX_POINTS) this.#pack();
    if (this.#curve.length > 2 * CURVE_POINTS) this.#curve.splice(0, CURVE_POINTS);
  }

  /** Adds a row of named series. A row that exceeds the limits is counted but not sent. */
  log(row: LoggedRow, now: number): void {
    if (!this.#limits.admits(row)) {
      this.#taken += 1;
      return;
    }
    this.history.log(row);
    if (!this.#hasUnsent) this.#oldestUnsentAt = now;
    if (!this.#rows.add(row)) {
      this.#pack();
      this.#oldestUnsentAt = now;
      this.#rows.add(row);
    }
    this.#unsentRows += 1;
  }

  /** Opens a call. It is sent with the unsent points and with those of an earlier call that Python gave up. */
  openCall(sequence: number, id: number, asked: AskedCall): void {
    this.#giveUpCall();
    const points = this.#takeUnsent();
    const message = { type: "call" as const, id, attempt: this.id, ...asked, points };
    this.#call = { sequence, message };
    this.#fresh.push(message);
  }

  /** The suggested values that the attempt has so far, by parameter name. For display. */
  get suggested(): Readonly<Record<string, unknown>> {
    return this.#suggested;
  }

  /** Notes the value that answered the open call, as JSON text. */
  noteSuggestion(text: string): void {
    const asked = this.#call?.message;
    if (asked?.method !== "suggest" || !("name" in asked.args)) return;
    this.#suggested = { ...this.#suggested, [asked.args.name]: forDisplay(text) };
  }

  /** Notes that the call was answered, possibly with an error. The server then has the points that the call carried. */
  closeCall(): void {
    this.#taken += this.#call?.message.points.length ?? 0;
    this.#call = null;
  }

  /** Adds a line that the objective printed. Without a connection, the oldest lines are removed. */
  print(text: string, now: number): void {
    if (this.#lines.length === 0) this.#printedAt = now;
    const line = cut(text, MAX_LINE);
    this.#lines.push(line);
    this.#lineCharacters += line.length;
    while (this.#lines.length > WAITING_LINES || this.#lineCharacters > WAITING_CHARACTERS) {
      this.#lineCharacters -= this.#lines.shift()?.length ?? 0;
      this.#droppedLines += 1;
    }
  }

  /** Ends the attempt. `by` says which back end and versions computed it. */
  finish(outcome: Outcome, runMs: number, next: boolean, by: Computer): void {
    this.#upload = null;
    this.#packLines();
    this.#giveUpCall();
    while (this.#unsent.length > MAX_POINTS || !this.#rows.isEmpty) this.#pack();
    this.#runMs = Math.round(runMs);
    const loadMs = Math.round((this.#runningAt ?? this.leasedAt) - this.leasedAt);
    const common = {
      type: "result" as const,
      attempt: this.id,
      seq: this.#nextSeq(),
      points: this.#takeUnsent(),
      metrics: { load_ms: Math.max(0, loadMs), run_ms: Math.max(0, this.#runMs) },
      backend: by.backend,
      next,
      ...(outcome.attrs === undefined ? {} : { attrs: outcome.attrs }),
      ...(by.software === "" ? {} : { software: by.software }),
    };
    this.#result = resultOf(common, outcome);
    this.#fresh.push(this.#result);
    this.#resendMs = RESEND_MS;
    this.#resends = 0;
  }

  release(reason: ReleaseReason): ClientMessages["release"] {
    return { type: "release", attempt: this.id, seq: this.#nextSeq(), reason };
  }

  /** Puts points, rows and lines that have waited long enough into messages. */
  flush(now: number): void {
    if (this.#hasUnsent && now >= this.#oldestUnsentAt + FLUSH_MS) this.#pack();
    if (this.#lines.length > 0 && now >= this.#printedAt + FLUSH_MS) this.#packLines();
  }

  /** Puts all points and rows, even the newest, into messages. */
  flushAll(): void {
    while (this.#hasUnsent) this.#pack();
  }

  /** Returns the messages that were not sent yet, in order, and counts them as sent. */
  takeFresh(now: number): Outgoing[] {
    const messages = this.#fresh;
    this.#fresh = [];
    if (messages.some((message) => message.type !== "output")) this.#sentAt = now;
    return messages;
  }

  /**
   * Returns all messages without an acknowledgement, in order with the result last, and the lines that were not sent
   * yet. They are sent on a new connection, and again after a long silence.
   */
  takeUnacknowledged(now: number): Outgoing[] {
    const last = this.#result ?? this.#call?.message;
    const lines = this.#fresh.filter((message) => message.type === "output");
    this.#fresh = [];
    this.#sentAt = now;
    const reports = this.#reports.map(({ message }) => message);
    return [...reports, ...lines, ...(last === undefined ? [] : [last])];
  }

  /** Processes an acknowledgement. Returns true if it was for a report of this attempt. */
  acknowledge(seq: number): boolean {
    const report = this.#reports.find(({ message }) => message.seq === seq);
    if (report === undefined) return false;
    this.#reports = this.#reports.filter((one) => one !== report);
    if (this.#reports.length === 0 && this.#result === null) this.#sentAt = null;
    this.#resendMs = RESEND_MS;
    this.#resends = 0;
    this.#taken += report.given;
    return true;
  }

  /** Removes a report that the server cannot read. Returns whether the message is a report or the result of this attempt. */
  discard(seq: number): boolean {
    return this.#result?.seq === seq || this.acknowledge(seq);
  }

  /** Whether the result says that the server could not read an earlier message. */
  get isRefused(): boolean {
    return this.#result?.outcome === "failed" && this.#result.error.code === MESSAGE_REFUSED;
  }

  /** The time at which points, rows or lines must be sent; null if none wait. */
  get flushAt(): number | null {
    const due = [];
    if (this.#hasUnsent) due.push(this.#oldestUnsentAt + FLUSH_MS);
    if (this.#lines.length > 0) due.push(this.#printedAt + FLUSH_MS);
    return due.length === 0 ? null : Math.min(...due);
  }

  /** The time at which unacknowledged messages are sent again. A call has its own deadline. */
  get resendAt(): number | null {
    const waits = this.#result !== null || this.#reports.length > 0;
    return waits && this.#sentAt !== null ? this.#sentAt + this.#resendMs : null;
  }

  /** The number of times that messages were sent again on this connection. */
  get resends(): number {
    return this.#resends;
  }

  /** Returns all messages without an acknowledgement, and doubles the pause before the next time. */
  takeAgain(now: number): Outgoing[] {
    this.#resends += 1;
    this.#resendMs = Math.min(RESEND_MOST_MS, this.#resendMs * 2);
    return this.takeUnacknowledged(now);
  }

  // Closes a call that Python has given up. Its points go back to the unsent points, so that they are not lost.
  #giveUpCall(): void {
    const call = this.#call;
    if (call === null) return;
    this.#unsent = [...call.message.points, ...this.#unsent];
    this.#fresh = this.#fresh.filter((message) => message !== call.message);
    this.#call = null;
  }

  get #hasUnsent(): boolean {
    return this.#unsent.length > 0 || !this.#rows.isEmpty;
  }

  #pack(): void {
    const points = this.#takeUnsent();
    const message = {
      type: "report" as const,
      attempt: this.id,
      seq: this.#nextSeq(),
      points,
      ...(this.#rows.isEmpty ? {} : { series: this.#rows.take() }),
    };
    this.#reports.push({ message, given: points.length + this.#unsentRows });
    this.#unsentRows = 0;
    this.#fresh.push(message);
  }

  // Puts lines into messages. They are never sent again, so some may be lost with a connection (R39).
  #packLines(): void {
    while (this.#lines.length > 0) {
      const lines = this.#lines.splice(0, MAX_LINES);
      this.#fresh.push({ type: "output", attempt: this.id, lines, dropped: this.#droppedLines });
      this.#droppedLines = 0;
    }
    this.#lineCharacters = 0;
  }

  #takeUnsent(): [number, number][] {
    return this.#unsent.splice(0, MAX_POINTS).map(([step, value]) => [step, value]);
  }

  #nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }
}

type ResultHead = Omit<Extract<TrialResult, { outcome: "pruned" }>, "outcome">;

function resultOf(head: ResultHead, outcome: Outcome): TrialResult {
  switch (outcome.outcome) {
    case "complete":
      return { ...head, outcome: "complete", values: [...outcome.values] };
    case "pruned":
      return { ...head, outcome: "pruned" };
    case "failed":
      return { ...head, outcome: "failed", error: clampFailure(outcome.error) };
    default:
      return outcome satisfies never;
  }
}

/** Cuts the texts of an error to the protocol's limits, because trial code chooses them. */
function clampFailure(error: Failure): Failure {
  return {
    cause: error.cause,
    code: cut(error.code, MAX_CODE),
    message: cut(error.message, MAX_MESSAGE),
    traceback: cutBytes(error.traceback, MAX_TRACEBACK_BYTES),
  };
}

/** Returns a value for display. A text that is not JSON, such as Python's NaN, is returned unchanged. */
function forDisplay(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function cut(text: string, characters: number): string {
  const whole = text.toWellFormed();
  return whole.length <= characters ? whole : [...whole].slice(0, characters).join("");
}

// Keeps the end of the text, because a traceback names the error at its end.
function cutBytes(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= most) return text.toWellFormed();
  let from = bytes.length - most;
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return new TextDecoder().decode(bytes.subarray(from));
}
