// Reads the form in which an administrator changes somebody's quota. Page thread; pure.

import type { PersonRow } from "../model/rows.ts";

export type Quota = PersonRow["quota"];

const GIGABYTE = 1e9;

/** The texts that the form's fields have at first. A size is in gigabytes with at most four digits. */
export function quotaTexts(quota: Quota): Readonly<Record<keyof Quota, string>> {
  return {
    studies: String(quota.studies),
    trials: String(quota.trials),
    bytes: String(Number((quota.bytes / GIGABYTE).toPrecision(4))),
  };
}

/**
 * Returns the limits that the reader changed, in the server's units. An empty field and 0 mean no limit. A field that is
 * as it was is left out, because its text is rounded.
 */
export function changedQuota(form: FormData, before: Quota): Partial<Quota> {
  const changed: { -readonly [name in keyof Quota]?: number } = {};
  const texts = quotaTexts(before);
  for (const name of ["studies", "trials", "bytes"] as const) {
    const text = String(form.get(name) ?? "").trim();
    if (text !== texts[name]) {
      changed[name] = Math.round(Number(text) * (name === "bytes" ? GIGABYTE : 1));
    }
  }
  return changed;
}
