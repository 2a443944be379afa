// Brings the checkpoints and artifacts of an attempt to the server (the device's part of R37 and R54). A trial never
// waits long for a checkpoint: without a connection, or after SAVE_MS, the checkpoint is kept on this device, the trial
// goes on, and the newest one is uploaded when the line is back. One upload runs at a time, in the order of Python's
// calls, because a checkpoint contains the artifacts before it. Pure: callers pass the time. Owned by work.ts on the
// agent thread.

import { answerText, errorText } from "../../channel/block.ts";
import type { Lease } from "../../protocol/index.ts";
import type { Attempt } from "./attempt.ts";
import type { AgentAction, EventOf } from "./events.ts";
import { type KeptCheckpoint, type Restart, restartOf } from "./kept_checkpoint.ts";
import type { UploadHead } from "./upload_head.ts";

/** The time for which `trial.checkpoint` waits for the server. The upload goes on after it. */
export const SAVE_MS = 10_000;
/** The time limit for all tries of an artifact. Python's own limit (UPLOAD_MS) is longer. */
export const ARTIFACT_MS = 280_000;
/** The time for which an artifact waits for the checkpoint before it. */
const AFTER_CHECKPOINT_MS = 120_000;

/** How an upload ended. */
export type UploadResult =
  | { readonly kind: "stored" }
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** The server did not take it now. `keeps` is whether the device should keep a checkpoint. */
  | { readonly kind: "not_stored"; readonly keeps: boolean };

/** A checkpoint that the server does not have. */
interface Save {
  readonly head: Extract<UploadHead, { of: "checkpoint" }>;
  readonly sha256: string;
  /** The content; null if it is the one that this device keeps. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  /** The call of Python that waits; null if none does. */
  sequence: number | null;
  readonly answerBy: number;
  isKept: boolean;
}

interface Artifact {
  readonly head: UploadHead;
  readonly sha256: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sequence: number;
  readonly since: number;
}

export interface SavingSurroundings {
  readonly isConnected: boolean;
  act(action: AgentAction): void;
}

export class Saving {
  readonly #around: SavingSurroundings;
  #attempt: Attempt | null = null;
  #newest: Save | null = null;
  #artifact: Artifact | null = null;
  #moving: { readonly id: number; readonly what: Save | Artifact } | null = null;
  #kept: KeptCheckpoint | null = null;
  #id = 0;

  constructor(around: SavingSurroundings) {
    this.#around = around;
  }

  /** Continues with the checkpoint that an earlier visit has kept. */
  restore(kept: KeptCheckpoint | null): void {
    this.#kept = kept;
  }

  /** Returns how the attempt of a lease begins with the kept checkpoint; null if it does not. */
  restartFor(lease: Lease): Restart | null {
    return restartOf(this.#kept, lease);
  }

  get deadlines(): readonly (number | null)[] {
    const answerBy = this.#newest?.sequence == null ? null : this.#newest.answerBy;
    return [answerBy, this.#artifactAt];
  }

  /** Begins with an attempt that continues from the kept checkpoint. The server gets the checkpoint as this attempt's. */
  continue(attempt: Attempt, { kept, points, rows }: Restart, now: number): void {
    const { sha256, format, step, logged: last } = kept;
    if (attempt.lease.checkpoint?.sha256 === sha256) {
      this.#forget();
      return;
    }
    attempt.repeat(points, rows, now);
    attempt.history.save(sha256);
    const head = { of: "checkpoint", format, step, logged: last } as const;
    this.#attempt = attempt;
    this.#newest = { head, sha256, bytes: null, sequence: null, answerBy: now, isKept: true };
  }

  upload(attempt: Attempt, event: EventOf<"upload">, head: UploadHead, now: number): void {
    const { sequence, sha256, bytes } = event;
    this.#attempt = attempt;
    attempt.openUpload(sequence);
    if (head.of === "artifact") {
      this.#artifact = { head, sha256, bytes, sequence, since: now };
    } else {
      attempt.history.save(sha256);
      const answerBy = now + SAVE_MS;
      this.#newest = { head, sha256, bytes, sequence, answerBy, isKept: false };
      if (!this.#around.isConnected) this.#letGo(this.#newest);
    }
    this.next(now);
  }

  uploaded(id: number, result: UploadResult, now: number): void {
    const { what } = this.#moving ?? {};
    if (what === undefined || this.#moving?.id !== id) return;
    this.#moving = null;
    if (what === this.#artifact) this.#artifactDone(what, result);
    else this.#checkpointDone(what as Save, result);
    this.next(now);
  }

  /** The connection is lost. Nobody waits for a checkpoint then. An artifact has its own time limit. */
  lost(): void {
    if (this.#moving !== null && this.#moving.what !== this.#artifact) this.#stop();
    if (this.#newest !== null) this.#letGo(this.#newest);
  }

  tick(now: number): void {
    const save = this.#newest;
    if (save?.sequence != null && now >= save.answerBy) this.#letGo(save);
    const artifactAt = this.#artifactAt;
    if (artifactAt === null || now < artifactAt) return;
    // The artifact's call would run out of time. Later checkpoints will be uploaded.
    this.#stop();
    if (save !== null) this.#letGo(save);
    this.#newest = null;
    this.next(now);
  }

  /** Starts the next upload, if none runs and one can. */
  next(now: number): void {
    const attempt = this.#attempt;
    if (attempt === null || this.#moving !== null) return;
    if (this.#newest !== null) {
      if (this.#around.isConnected) this.#begin(attempt, this.#newest, null);
    } else if (this.#artifact !== null) {
      const { since } = this.#artifact;
      this.#begin(attempt, this.#artifact, ARTIFACT_MS - (now - since));
    }
  }

  /** Ends with the attempt. `keeps` is whether a later attempt of the trial on this device may need its checkpoint. */
  end(attempt: Attempt | null, keeps: boolean): void {
    if (this.#moving !== null) this.#stop();
    if (keeps && this.#newest !== null) this.#keep(this.#newest);
    if (!keeps) this.#forgetOf(attempt);
    this.#attempt = null;
    this.#newest = null;
    this.#artifact = null;
  }

  // ---- private

  #artifactDone(artifact: Artifact, result: UploadResult): void {
    this.#artifact = null;
    if (result.kind === "stored") this.#attempt?.history.breakOff();
    this.#answer(artifact.sequence, result);
  }

  #checkpointDone(save: Save, result: UploadResult): void {
    if (result.kind === "not_stored") {
      if (result.keeps) this.#keep(save);
    } else if (this.#kept?.sha256 === save.sha256) {
      this.#forget();
    }
    if (result.kind === "stored") {
      this.#attempt?.history.stored(save.sha256);
      // What is kept is older, unless the trial has saved again.
      if (this.#newest === save) this.#forgetOf(this.#attempt);
    }
    if (save.sequence !== null) this.#answer(save.sequence, result);
    if (this.#newest === save) this.#newest = null;
  }

  /** The time at which an artifact waits no longer for the checkpoint before it. */
  get #artifactAt(): number | null {
    const artifact = this.#artifact;
    const isWaiting = artifact !== null && this.#moving?.what !== artifact;
    return isWaiting ? artifact.since + AFTER_CHECKPOINT_MS : null;
  }

  /** Keeps a checkpoint on this device, and lets the trial go on. */
  #letGo(save: Save): void {
    this.#keep(save);
    if (save.sequence === null) return;
    this.#answer(save.sequence, { kind: "not_stored", keeps: true });
    save.sequence = null;
  }

  #keep(save: Save): void {
    if (save.isKept || save.bytes === null) return;
    save.isKept = true;
    const kept = this.#attempt?.history.keptAs(save.sha256, save.head) ?? null;
    if (kept === null) return;
    this.#kept = kept;
    this.#around.act({ kind: "keep", kept, bytes: save.bytes });
  }

  #forgetOf(attempt: Attempt | null): void {
    const { study, trial } = attempt?.lease ?? {};
    if (this.#kept?.study === study && this.#kept?.trial === trial) this.#forget();
  }

  #forget(): void {
    if (this.#kept === null) return;
    this.#around.act({ kind: "forget_kept", sha256: this.#kept.sha256 });
    this.#kept = null;
  }

  #begin(attempt: Attempt, what: Save | Artifact, limitMs: number | null): void {
    this.#id += 1;
    this.#moving = { id: this.#id, what };
    const { head, sha256, bytes } = what;
    const upload = { attempt: attempt.id, head, sha256, bytes, limitMs };
    this.#around.act({ kind: "upload", id: this.#id, ...upload });
  }

  #stop(): void {
    if (this.#moving === null) return;
    this.#moving = null;
    this.#around.act({ kind: "forget_upload" });
  }

  #answer(sequence: number, result: UploadResult): void {
    if (this.#attempt?.upload !== sequence) return;
    this.#attempt.closeUpload();
    const text =
      result.kind === "refused"
        ? errorText(result.code, result.message)
        : answerText(result.kind === "stored");
    this.#around.act({ kind: "answer", sequence, text });
  }
}
