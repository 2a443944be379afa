// What the python thread says, checked before it is believed: trial code runs on that thread and may speak in its name.
// Kinds, sizes, and how much may be on the way. Pure: times are passed in; owned by python_host.ts on the agent thread.

import * as v from "valibot";
import { LAST_SEQUENCE } from "../../channel/block.ts";
import { CONTROL_WORDS } from "../../gpu/ring/layout.ts";
import { MAX_LINE, MAX_MESSAGE } from "../../protocol/limits.ts";
import {
  CALL_MS,
  METHOD_CHARACTERS,
  PAYLOAD_CHARACTERS,
  PROGRESS_MS,
  UPLOAD_BYTES,
  UPLOAD_MS,
  WINDOW_POINTS,
} from "../../python/bridge.ts";
import { type FromPython, OUTCOME_CHARACTERS } from "../../python/messages.ts";
import { MOST_LINES_AT_END, MOST_LINES_PER_SECOND } from "../../python/output.ts";

/** The two threads see a call begin at different times. */
const SLACK_MS = 5_000;
const TIMINGS = 32;
/** Words of progress that may come early: several at once after a pause of the agent's. */
const EARLY_PROGRESS = 8;
/** Rings that an attempt may open, and how often it may wake the gpu thread: by a word in memory, where engines can. */
const MOST_RINGS = 64;
const MOST_WAKES_PER_SECOND = 5_000;
const WAKES_AHEAD = 1_000;
/** What may have gathered while this thread was busy, and what leaves at the trial's end. */
const LINES_AHEAD = 1_000 + MOST_LINES_AT_END;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const text = (characters: number) => v.pipe(v.string(), v.maxLength(characters));
const sequence = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(LAST_SEQUENCE));
const duration = v.pipe(v.number(), v.finite(), v.minValue(0));

// Only the address is looked at here: what the memory holds is the gpu thread's to judge.
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
    timings: v.pipe(
      v.record(text(64), duration),
      v.check((timings) => Object.keys(timings).length <= TIMINGS),
    ),
  }),
  v.object({ kind: v.literal("report"), attempt: count, step: v.number(), value: v.number() }),
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
 * How many points and calls a python thread may have sent without an answer. Its end of the channel has the same limits. One
 * for each attempt.
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

  /** So many of its points are with the server. */
  setTaken(points: number): void {
    this.#taken = points;
  }

  /** A call has its answer. */
  setAnswered(sequence: number): void {
    if (this.#call?.sequence === sequence) this.#call = null;
  }

  /** Counts a message; false when an honest thread would have waited before it. */
  admits(message: FromPython, now: number): boolean {
    if (message.kind === "report") {
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

/** The message; null when it is none that an honest thread sends. */
export function parseFromPython(data: unknown): FromPython | null {
  const parsed = v.safeParse(fromPython, data);
  return parsed.success ? parsed.output : null;
}
