// What the python thread says, checked before it is believed: trial code runs on that thread and may speak in its name.
// Kinds, sizes, the attempt, and how much may come. Pure: times are passed in; owned by python_host.ts on the agent thread.

import * as v from "valibot";
import { kMessageCharacters } from "../protocol/client_messages.ts";
import { kMethodCharacters, kPayloadCharacters, kWindowPoints } from "../python/bridge.ts";
import { type FromPython, kOutcomeCharacters } from "../python/messages.ts";

/** Messages but for points: so many at once, and so many a second. */
const kBurst = 5_000;
const kPerSecond = 5_000;
const kTimings = 32;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const text = (characters: number) => v.pipe(v.string(), v.maxLength(characters));
const duration = v.pipe(v.number(), v.finite(), v.minValue(0));

const fromPython = v.variant("kind", [
  v.object({ kind: v.literal("loading"), loaded: count, total: count }),
  v.object({
    kind: v.literal("loaded"),
    timings: v.pipe(
      v.record(text(64), duration),
      v.check((timings) => Object.keys(timings).length <= kTimings),
    ),
  }),
  v.object({ kind: v.literal("report"), attempt: count, step: v.number(), value: v.number() }),
  v.object({
    kind: v.literal("call"),
    attempt: count,
    sequence: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 31 - 1)),
    method: text(kMethodCharacters),
    payload: text(kPayloadCharacters),
  }),
  v.object({
    kind: v.literal("outcome"),
    attempt: count,
    outcome: text(kOutcomeCharacters),
    runMs: duration,
  }),
  v.object({
    kind: v.literal("crashed"),
    code: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}$/)),
    message: text(kMessageCharacters),
  }),
]);

/** What a python thread may have on the way, and what it has had. One for each attempt. */
export class Allowance {
  #points = 0;
  #taken = 0;
  #tokens = kBurst;
  #filledAt: number;

  constructor(now: number) {
    this.#filledAt = now;
  }

  /** So many of its points are with the server. */
  setTaken(points: number): void {
    this.#taken = points;
  }

  /** Counts a message; false when an honest thread could not have sent it. */
  admits(message: FromPython, now: number): boolean {
    if (message.kind === "report") {
      // The thread's own window waits for the same number.
      this.#points += 1;
      return this.#points <= this.#taken + kWindowPoints;
    }
    const refill = Math.max(0, now - this.#filledAt) * (kPerSecond / 1_000);
    this.#tokens = Math.min(kBurst, this.#tokens + refill);
    this.#filledAt = now;
    this.#tokens -= 1;
    return this.#tokens >= 0;
  }
}

/** The message; null when it is none that an honest thread sends. */
export function parseFromPython(data: unknown): FromPython | null {
  const parsed = v.safeParse(fromPython, data);
  return parsed.success ? parsed.output : null;
}
