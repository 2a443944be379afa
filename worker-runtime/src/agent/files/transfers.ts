// Uploads checkpoints and artifacts of an attempt, and downloads the checkpoint that it begins with (PUT and GET
// /api/attempts/... of server/docs/rest.md). An upload is tried again until the server accepts or refuses it, until its
// time limit, or until it is aborted. Runs on the agent thread.

import { Backoff } from "../../base/backoff.ts";
import { sha256Hex } from "../../base/hex.ts";
import type { Checkpoint } from "../../protocol/index.ts";
import type { UploadResult } from "../machine/saving.ts";
import type { UploadHead } from "../machine/upload_head.ts";
import { refusalOf } from "./api.ts";

const TRY_MS = 120_000;
/**
 * The time limit for one try of a checkpoint. It is uploaded while the trial goes on, so a slow line may take long. If it
 * takes longer, another try would only use up the volunteer's data.
 */
export const CHECKPOINT_TRY_MS = 600_000;
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
  readonly sha256: string;
  /** The time limit for all tries; null if there is none. */
  readonly limitMs: number | null;
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

  async upload(saved: Saved, signal: AbortSignal): Promise<UploadResult> {
    const url = addressOf(saved);
    const { now, pause, random } = this.#options;
    const until = saved.limitMs === null ? Number.POSITIVE_INFINITY : now() + saved.limitMs;
    const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, random);
    while (!signal.aborted) {
      const result = await this.#put(url, saved, signal);
      if (result !== null) return result;
      const ms = backoff.nextMs();
      if (now() + ms >= until) break;
      await pause(ms, signal).catch(() => {});
    }
    return { kind: "not_stored", keeps: true };
  }

  /** Sends the upload once. Returns null if another try may help. */
  async #put(url: string, saved: Saved, signal: AbortSignal): Promise<UploadResult | null> {
    const isCheckpoint = saved.head.of === "checkpoint";
    const tryMs = isCheckpoint ? CHECKPOINT_TRY_MS : TRY_MS;
    const begun = this.#options.now();
    const response = await this.#ask(url, { method: "PUT", body: saved.bytes }, signal, tryMs);
    const isAway = response === null || (response.status >= 500 && response.status !== NO_ROOM);
    if (isAway) {
      const isSlow = isCheckpoint && this.#options.now() - begun >= tryMs;
      return isSlow ? { kind: "not_stored", keeps: true } : null;
    }
    if (response.ok) return { kind: "stored" };
    const { code, message } = refusalOf(response.status, await response.json().catch(() => null));
    // The attempt has ended. The server also revokes it by a message, so Python gets no error here.
    if (code === "unknown_attempt") return { kind: "not_stored", keeps: true };
    // A trial goes on although the server had no room for its checkpoint.
    if (isCheckpoint && NO_ROOM_CODES.has(code)) return { kind: "not_stored", keeps: true };
    // The status 429 means too many requests. A checkpoint is then dropped, because a later one replaces it. An
    // artifact is tried again.
    if (response.status === 429) return isCheckpoint ? { kind: "not_stored", keeps: false } : null;
    return { kind: "refused", code, message };
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

  #ask(
    url: string,
    init: RequestInit,
    signal: AbortSignal,
    tryMs = TRY_MS,
  ): Promise<Response | null> {
    return this.#options
      .fetch(url, {
        ...init,
        headers: { authorization: this.#options.authorization() },
        cache: "no-store",
        signal: AbortSignal.any([signal, AbortSignal.timeout(tryMs)]),
      })
      .catch(() => null);
  }
}

function addressOf({ attempt, head, sha256 }: Saved): string {
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
