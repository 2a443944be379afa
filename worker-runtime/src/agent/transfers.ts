// Checkpoints on their way to the server and back (PUT and GET /api/attempts/... of server/docs/rest.md). An upload is tried
// again until it is taken, refused, or its time is over; the attempt goes on either way. Runs on the agent thread.

import { answerText, errorText } from "../channel/block.ts";
import { sha256Hex } from "../hex.ts";
import type { Checkpoint } from "../protocol/index.ts";
import { refusalOf } from "./api.ts";
import { Backoff } from "./backoff.ts";

/** For all tries of one upload together; shorter than what Python waits for. */
export const kUploadMs = 280_000;
const kTryMs = 120_000;
const kFirstPauseMs = 500;
const kFirstDownloadPauseMs = 1_000;
const kLongestPauseMs = 15_000;
const kDownloadTries = 3;

/** What an objective saved. */
export interface Saved {
  readonly attempt: number;
  readonly format: Checkpoint["format"];
  /** The last step that it reported before. */
  readonly step: number | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface CheckpointsOptions {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly authorization: () => string;
  readonly random: () => number;
  /** Monotonic ms. */
  readonly now: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class Checkpoints {
  readonly #options: CheckpointsOptions;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  /** The answer for Python: true when the server has it, false when it could not be stored, or the server's refusal. */
  async save(saved: Saved, signal: AbortSignal): Promise<string> {
    const step = saved.step === null ? "" : `&step=${saved.step}`;
    const sha256 = await sha256Hex(saved.bytes);
    const url = `/api/attempts/${saved.attempt}/checkpoints/${sha256}?format=${saved.format}${step}`;
    const { now, pause, random } = this.#options;
    const until = now() + kUploadMs;
    const backoff = new Backoff(kFirstPauseMs, kLongestPauseMs, random);
    while (!signal.aborted) {
      const answer = await this.#put(url, saved.bytes, signal);
      if (answer !== null) return answer;
      const ms = backoff.nextMs();
      if (now() + ms >= until) break;
      await pause(ms, signal).catch(() => {});
    }
    return answerText(false);
  }

  /** Null: worth another try. */
  async #put(
    url: string,
    body: Uint8Array<ArrayBuffer>,
    signal: AbortSignal,
  ): Promise<string | null> {
    const response = await this.#ask(url, { method: "PUT", body }, signal);
    if (response === null || response.status >= 500) return null;
    if (response.ok) return answerText(true);
    const { code } = refusalOf(response.status, await response.json().catch(() => null));
    // Too often: the next one may be taken. An attempt that has ended will be told so elsewhere.
    if (code === "checkpoint_quota" || code === "unknown_attempt") return answerText(false);
    return errorText(code, `The server did not take the checkpoint (${response.status}).`);
  }

  /** The bytes that the attempt begins with; null when they are not to be had. */
  async load(
    attempt: number,
    checkpoint: Checkpoint,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const { pause, random } = this.#options;
    const backoff = new Backoff(kFirstDownloadPauseMs, kLongestPauseMs, random);
    for (let tries = 0; tries < kDownloadTries && !signal.aborted; tries += 1) {
      if (tries > 0) await pause(backoff.nextMs(), signal).catch(() => {});
      const response = await this.#ask(`/api/attempts/${attempt}/checkpoint`, {}, signal);
      if (response === null || response.status >= 500) continue;
      if (!response.ok) return null;
      const bytes = await response.arrayBuffer().catch(() => null);
      if (bytes === null) continue;
      const whole = new Uint8Array(bytes);
      if ((await sha256Hex(whole)) === checkpoint.sha256) return whole;
    }
    return null;
  }

  #ask(url: string, init: RequestInit, signal: AbortSignal): Promise<Response | null> {
    return this.#options
      .fetch(url, {
        ...init,
        headers: { authorization: this.#options.authorization() },
        cache: "no-store",
        signal: AbortSignal.any([signal, AbortSignal.timeout(kTryMs)]),
      })
      .catch(() => null);
  }
}
