// Uploads checkpoints and artifacts of an attempt, and downloads the checkpoint that it begins with (PUT and GET
// /api/attempts/... of server/docs/rest.md). An upload is tried again until the server accepts or refuses it, or until
// its time limit. Runs on the agent thread.

import { Backoff } from "../../base/backoff.ts";
import { sha256Hex } from "../../base/hex.ts";
import { answerText, errorText } from "../../channel/block.ts";
import type { Checkpoint } from "../../protocol/index.ts";
import type { UploadHead } from "../machine/upload_head.ts";
import { refusalOf } from "./api.ts";

/** The time limit for all tries of one upload. Python's own limit (UPLOAD_MS) is longer. */
export const ALL_TRIES_MS = 280_000;
const TRY_MS = 120_000;
const FIRST_PAUSE_MS = 500;
const FIRST_DOWNLOAD_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;
const DOWNLOAD_TRIES = 3;
/** HTTP 507, Insufficient Storage: another try would not help soon. */
const NO_ROOM = 507;
/** The server's codes if its disk, the owner's quota or this device's share has no room for the bytes. */
const NO_ROOM_CODES: ReadonlySet<string> = new Set(["no_room", "quota_exceeded", "device_share"]);

/** A checkpoint or an artifact that an objective saved. */
export interface Saved {
  readonly attempt: number;
  readonly head: UploadHead;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface TransfersOptions {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly authorization: () => string;
  readonly random: () => number;
  /** Returns a monotonic time in milliseconds. */
  readonly now: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class Transfers {
  readonly #options: TransfersOptions;

  constructor(options: TransfersOptions) {
    this.#options = options;
  }

  /** Uploads. Returns the answer for Python: true if the server stored the bytes, its refusal, or else false. */
  async upload(saved: Saved, signal: AbortSignal): Promise<string> {
    const url = addressOf(saved, await sha256Hex(saved.bytes));
    const { now, pause, random } = this.#options;
    const until = now() + ALL_TRIES_MS;
    const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, random);
    while (!signal.aborted) {
      const answer = await this.#put(url, saved, signal);
      if (answer !== null) return answer;
      const ms = backoff.nextMs();
      if (now() + ms >= until) break;
      await pause(ms, signal).catch(() => {});
    }
    return answerText(false);
  }

  /** Sends the upload once. Returns null if another try may help. */
  async #put(url: string, saved: Saved, signal: AbortSignal): Promise<string | null> {
    const response = await this.#ask(url, { method: "PUT", body: saved.bytes }, signal);
    const isAway = response === null || (response.status >= 500 && response.status !== NO_ROOM);
    if (isAway) return null;
    if (response.ok) return answerText(true);
    const { code, message } = refusalOf(response.status, await response.json().catch(() => null));
    // The attempt has ended. The server also revokes it by a message, so Python gets no error here.
    if (code === "unknown_attempt") return answerText(false);
    // A trial goes on although the server had no room for its checkpoint.
    if (saved.head.of === "checkpoint" && NO_ROOM_CODES.has(code)) return answerText(false);
    // The status 429 means too many requests. A checkpoint is then dropped, because a later one replaces it. An
    // artifact is tried again.
    if (response.status === 429) return saved.head.of === "artifact" ? null : answerText(false);
    return errorText(code, message);
  }

  /** Returns the checkpoint with which the attempt begins, or null if it cannot be fetched. */
  async loadCheckpoint(
    attempt: number,
    checkpoint: Checkpoint,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const { pause, random } = this.#options;
    const backoff = new Backoff(FIRST_DOWNLOAD_PAUSE_MS, LONGEST_PAUSE_MS, random);
    for (let tries = 0; tries < DOWNLOAD_TRIES && !signal.aborted; tries += 1) {
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
        signal: AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]),
      })
      .catch(() => null);
  }
}

function addressOf({ attempt, head }: Saved, sha256: string): string {
  const query = new URLSearchParams();
  if (head.of === "checkpoint") {
    query.set("format", head.format);
    if (head.step !== null) query.set("step", String(head.step));
    if (head.logged !== null) query.set("logged", String(head.logged));
    return `/api/attempts/${attempt}/checkpoints/${sha256}?${query}`;
  }
  for (const key of ["id", "name", "type", "store"] as const) {
    if (head[key] !== "") query.set(key, head[key]);
  }
  return `/api/attempts/${attempt}/artifacts/${sha256}?${query}`;
}
