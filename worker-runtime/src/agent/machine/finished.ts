// A finished attempt in the form in which it is stored until the server has its result. Pure; agent thread.

import { parseClientMessage, parseServerMessage, serialize } from "../../protocol/index.ts";
import type { ClientMessages, Lease, TrialResult } from "../../protocol/messages.ts";

/** A finished attempt whose result the server may not have. It can be stored and restored. */
export interface Finished {
  readonly lease: Lease;
  readonly reports: readonly ClientMessages["report"][];
  readonly result: TrialResult;
  readonly runMs: number;
}

/** Returns a stored result. One that this version cannot read, or that was damaged, is forgotten. */
export function readFinished(stored: unknown): Finished | null {
  if (typeof stored !== "object" || stored === null) return null;
  const { lease, reports, result, runMs } = stored as Readonly<Partial<Finished>>;
  if (!Array.isArray(reports) || typeof runMs !== "number") return null;
  try {
    const leased = parseServerMessage(JSON.stringify({ type: "lease", lease }));
    const sent = [...reports, result].map((one) => parseClientMessage(serialize(one)));
    const last = sent.pop();
    if (leased.type !== "lease" || last?.type !== "result") return null;
    const isReport = (one: (typeof sent)[number]) => one.type === "report";
    return { lease: leased.lease, reports: sent.filter(isReport), result: last, runMs };
  } catch {
    return null;
  }
}
