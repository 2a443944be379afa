// What an attempt has reported since the newest checkpoint that the server has. A later attempt on this device repeats it
// if it begins with a checkpoint that the server does not have (kept_checkpoint.ts). Pure; agent thread.

import type { Lease, Point } from "../../protocol/index.ts";
import type { Base, KeptCheckpoint } from "./kept_checkpoint.ts";
import type { LoggedRow } from "./series.ts";
import type { UploadHead } from "./upload_head.ts";

type CheckpointHead = Extract<UploadHead, { of: "checkpoint" }>;

/** The most numbers that are remembered. A trial that reports more between two checkpoints has no kept checkpoint. */
const MOST_NUMBERS = 200_000;

export class History {
  readonly #lease: Lease;
  #points: Point[] = [];
  #rows: LoggedRow[] = [];
  #numbers = 0;
  /** Empty if something was forgotten since the last checkpoint. */
  #bases: Base[];

  constructor(lease: Lease) {
    this.#lease = lease;
    this.#bases = [{ sha256: lease.checkpoint?.sha256 ?? null, points: 0, rows: 0 }];
  }

  report(point: Point): void {
    if (this.#takesRoom(2)) this.#points.push(point);
  }

  log(row: LoggedRow): void {
    if (this.#takesRoom(1 + row.values.length)) this.#rows.push(row);
  }

  /** Notes that the trial has saved a checkpoint, which the server may now get at any time. */
  save(sha256: string): void {
    this.#bases.push({ sha256, points: this.#points.length, rows: this.#rows.length });
  }

  /** Notes that the server has a checkpoint. What was reported before it belongs to that checkpoint. */
  stored(sha256: string): void {
    const index = this.#bases.findIndex((base) => base.sha256 === sha256);
    const base = this.#bases[index];
    if (base === undefined) return;
    this.#points = this.#points.slice(base.points);
    this.#rows = this.#rows.slice(base.rows);
    this.#numbers = 2 * this.#points.length;
    for (const { values } of this.#rows) this.#numbers += 1 + values.length;
    this.#bases = this.#bases.slice(index).map(({ sha256: of, points, rows }) => ({
      sha256: of,
      points: points - base.points,
      rows: rows - base.rows,
    }));
  }

  /**
   * Forgets everything before the next checkpoint. An uploaded artifact cannot be repeated by a later attempt, which would
   * lose it (R54).
   */
  breakOff(): void {
    this.#points = [];
    this.#rows = [];
    this.#numbers = 0;
    this.#bases = [];
  }

  /** Returns a saved checkpoint in the form in which this device keeps it; null if no later attempt could use it. */
  keptAs(sha256: string, { format, step, logged }: CheckpointHead): KeptCheckpoint | null {
    const index = this.#bases.findIndex((base) => base.sha256 === sha256);
    const base = this.#bases[index];
    if (base === undefined || index === 0) return null;
    const { attempt, study, trial, bundle } = this.#lease;
    return {
      study,
      trial,
      bundle: bundle.sha256,
      attempt,
      sha256,
      format,
      step,
      logged,
      points: this.#points.slice(0, base.points),
      rows: this.#rows.slice(0, base.rows),
      bases: this.#bases.slice(0, index + 1),
    };
  }

  #takesRoom(numbers: number): boolean {
    if (this.#bases.length === 0) return false;
    this.#numbers += numbers;
    if (this.#numbers <= MOST_NUMBERS) return true;
    this.breakOff();
    return false;
  }
}
