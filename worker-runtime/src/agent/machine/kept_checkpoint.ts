// A checkpoint that only this device has, and what a later attempt on this device needs in order to begin with it. Pure;
// agent thread.
//
// The server fills the beginning of an attempt's curve from the attempt that saved the checkpoint in its lease. It knows
// nothing of a kept checkpoint. So an attempt that begins with one repeats, as its own, the points and rows between the
// checkpoint in its lease and the kept one.

import * as v from "valibot";
import { logged } from "../../protocol/fields.ts";
import type { Checkpoint, Lease, Point } from "../../protocol/index.ts";
import type { LoggedRow } from "./series.ts";

/** A checkpoint that the server may name in a lease, and how many points and rows come before it. */
export interface Base {
  /** The checkpoint's hash; null is the beginning of the trial. */
  readonly sha256: string | null;
  readonly points: number;
  readonly rows: number;
}

export interface KeptCheckpoint {
  readonly study: number;
  readonly trial: number;
  /** The hash of the code that saved it. */
  readonly bundle: string;
  readonly attempt: number;
  readonly sha256: string;
  readonly format: Checkpoint["format"];
  readonly step: number | null;
  readonly logged: number | null;
  /** What was reported between the first base and the checkpoint. */
  readonly points: readonly Point[];
  readonly rows: readonly LoggedRow[];
  /** The checkpoints after which `points` and `rows` complete a curve. The last one is the checkpoint itself. */
  readonly bases: readonly Base[];
}

/** A kept checkpoint with which an attempt can begin, and what the attempt must report again. */
export interface Restart {
  readonly kept: KeptCheckpoint;
  readonly points: readonly Point[];
  readonly rows: readonly LoggedRow[];
}

/**
 * Returns how the attempt of this lease can begin with a kept checkpoint; null if it cannot. The lease must name a
 * checkpoint that the kept one continues. If it names another one, or none any more, another device is ahead or the server has
 * dropped the state on purpose (R33, R38, R64, R71).
 */
export function restartOf(kept: KeptCheckpoint | null, lease: Lease): Restart | null {
  if (kept === null || kept.study !== lease.study || kept.trial !== lease.trial) return null;
  if (kept.bundle !== lease.bundle.sha256) return null;
  const base = kept.bases.find(({ sha256 }) => sha256 === (lease.checkpoint?.sha256 ?? null));
  if (base === undefined) return null;
  return { kept, points: kept.points.slice(base.points), rows: kept.rows.slice(base.rows) };
}

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const stored = v.object({
  study: count,
  trial: count,
  bundle: sha256,
  attempt: count,
  sha256,
  format: v.picklist(["tree", "npz"]),
  step: v.nullable(count),
  logged: v.nullable(count),
  points: v.array(v.tuple([count, v.pipe(v.number(), v.finite())])),
  rows: v.array(v.object({ step: count, values: v.array(v.tuple([v.string(), logged])) })),
  bases: v.array(v.object({ sha256: v.nullable(sha256), points: count, rows: count })),
});

/** Returns a stored description. One that this version cannot read, or that was damaged, is forgotten. */
export function readKept(found: unknown): KeptCheckpoint | null {
  const parsed = v.safeParse(stored, found);
  return parsed.success ? parsed.output : null;
}
