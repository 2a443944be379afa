// Checks the python thread's messages, which trial code on that thread may forge: their kinds, their sizes, and how many may
// wait for an answer. Pure: callers pass the time. Owned by python_host.ts on the agent thread.

import * as v from "valibot";
import { LAST_SEQUENCE } from "../../channel/block.ts";
import { CONTROL_WORDS } from "../../gpu/ring/layout.ts";
import { MAX_LINE, MAX_MESSAGE } from "../../protocol/limits.ts";
import {
  CALL_MS,
  METHOD_CHARACTERS,
  PAYLOAD_CHARACTERS,
  PROGRESS_MS,
  ROW_CHARACTERS,
  UPLOAD_BYTES,
  UPLOAD_MS,
  WINDOW_POINTS,
} from "../../python/bridge.ts";
import { type FromPython, OUTCOME_CHARACTERS } from "../../python/messages.ts";
import { MOST_LINES_AT_END, MOST_LINES_PER_SECOND } from "../../python/output.ts";

/** The largest difference between the times at which the two threads note the beginning of the same call. */
const SLACK_MS = 5_000;
const TIMINGS = 32;
/** The most progress messages that may arrive at once after the agent was busy. */
const EARLY_PROGRESS = 8;
/** The most rings (queues of GPU commands) that an attempt may open. */
const MOST_RINGS = 64;
const MOST_WAKES_PER_SECOND = 5_000;
const WAKES_AHEAD = 1_000;
/**
 * The most lines that may arrive at once: the lines that were printed while this thread was busy, and those at the
 * trial's end.
 */
const LINES_AHEAD = 1_000 + MOST_LINES_AT_END;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const text = (characters: number) => v.pipe(v.string(), v.maxLength(characters));
const sequence = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(LAST_SEQUENCE));
const duration = v.pipe(v.number(), v.finite(), v.minValue(0));

// A message that opens a ring (the queue of GPU commands). Only the ring's memory and address are checked here. The gpu
// thread checks the content.
const ring = v.pipe(
  v.object({
    kind: v.literal("open"),
    memory: v.custom<WebAssembly.Memory>(
      (value) => value instanceof WebAssembly.Memory && isShared(value.buffer),
    ),
    controlAddress: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.multipleOf(4)),
  }),
  v.check(
    ({ memory, controlAddress }) => controlAddress + 4 * CONTROL_WORDS <= memory.buffer.byteLength,
  ),
);

const fromPython = v.variant("kind", [
  v.object({ kind: v.literal("loading"), loaded: count, total: count }),
  v.object({
    kind: v.literal("loaded"),
    fetchedBytes: count,
    timings: v.pipe(
      v.record(text(64), duration),
      v.check((timings) => Object.keys(timings).length <= TIMINGS),
    ),
  }),
  v.object({ kind: v.literal("report"), attempt: count, step: v.number(), value: v.number() }),
  v.object({ kind: v.literal("log"), attempt: count, row: text(ROW_CHARACTERS) }),
  v.object({ kind: v.literal("progress"), attempt: count, count }),
  v.object({
    kind: v.literal("call"),
    attempt: count,
    sequence,
    method: text(METHOD_CHARACTERS),
    payload: text(PAYLOAD_CHARACTERS),
  }),
  v.object({
    kind: v.literal("upload"),
    attempt: count,
    sequence,
    head: text(PAYLOAD_CHARACTERS),
    bytes: v.custom<Uint8Array<ArrayBuffer>>(
      (value) =>
        value instanceof Uint8Array &&
        value.buffer instanceof ArrayBuffer &&
        value.byteLength <= UPLOAD_BYTES,
    ),
  }),
  v.object({ kind: v.literal("output"), attempt: count, text: text(MAX_LINE) }),
  v.object({
    kind: v.literal("outcome"),
    attempt: count,
    outcome: text(OUTCOME_CHARACTERS),
    runMs: duration,
    isLast: v.optional(v.boolean()),
  }),
  v.object({
    kind: v.literal("gpu"),
    message: v.union([ring, v.object({ kind: v.literal("wake") })]),
  }),
  v.object({
    kind: v.literal("crashed"),
    code: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}$/)),
    message: text(MAX_MESSAGE),
  }),
]);

/**
 * Counts the points, rows and calls that a python thread has sent without an answer, and limits them. The thread's own end of
 * the channel has the same limits. Each attempt has its own Allowance.
 */
export class Allowance {
  #points = 0;
  #taken = 0;
  #progress = 0;
  #progressSince: number | null = null;
  #call: { readonly sequence: number; readonly givenUpAt: number } | null = null;
  #lines = 0;
  #firstLineAt: number | null = null;
  #rings = 0;
  #wakes = 0;
  #firstWakeAt: number | null = null;

  /** Notes how many of the attempt's points and rows the server has now. */
  setTaken(points: number): void {
    this.#taken = points;
  }

  /** Notes that a call was answered. */
  setAnswered(sequence: number): void {
    if (this.#call?.sequence === sequence) this.#call = null;
  }

  /**
   * Counts a message. Returns false if the python thread should have waited before it sent the message. In that case,
   * trial code must have changed that thread.
   */
  admits(message: FromPython, now: number): boolean {
    if (message.kind === "report" || message.kind === "log") {
      this.#points += 1;
      return this.#points <= this.#taken + WINDOW_POINTS;
    }
    if (message.kind === "call" || message.kind === "upload") {
      if (this.#call !== null && now < this.#call.givenUpAt) return false;
      const ms = message.kind === "call" ? CALL_MS : UPLOAD_MS;
      this.#call = { sequence: message.sequence, givenUpAt: now + ms - SLACK_MS };
    }
    if (message.kind === "output") {
      this.#firstLineAt ??= now;
      this.#lines += 1;
      const seconds = (now - this.#firstLineAt) / 1000;
      return this.#lines <= LINES_AHEAD + seconds * MOST_LINES_PER_SECOND;
    }
    if (message.kind === "gpu") {
      if (message.message.kind === "open") {
        this.#rings += 1;
        return this.#rings <= MOST_RINGS;
      }
      this.#firstWakeAt ??= now;
      this.#wakes += 1;
      const seconds = (now - this.#firstWakeAt) / 1000;
      return this.#wakes <= WAKES_AHEAD + seconds * MOST_WAKES_PER_SECOND;
    }
    if (message.kind === "progress") {
      this.#progressSince ??= now;
      this.#progress += 1;
      return this.#progress <= EARLY_PROGRESS + (2 * (now - this.#progressSince)) / PROGRESS_MS;
    }
    return true;
  }
}

function isShared(buffer: ArrayBufferLike): boolean {
  return Object.prototype.toString.call(buffer) === "[object SharedArrayBuffer]";
}

/** Returns the message, or null if only a thread that trial code has changed can have sent it. */
export function parseFromPython(data: unknown): FromPython | null {
  const parsed = v.safeParse(fromPython, data);
  return parsed.success ? parsed.output : null;
}
