// Reads the form in which an administrator sets a ceiling (R68). Page thread; pure.

import type { CeilingRow } from "../model/rows.ts";

/** Returns a number of a form's field; null if the field is empty. */
function numberOf(form: FormData, name: string, factor: number): number | null {
  const text = String(form.get(name) ?? "").trim();
  return text === "" ? null : Math.round(Number(text) * factor);
}

/** Returns the ceiling that a form asks for. An empty field means that the limit is not set. */
export function ceilingOf(form: FormData): CeilingRow {
  const scope = String(form.get("scope")) as CeilingRow["scope"];
  const name = String(form.get("name") ?? "").trim();
  const approval = form.get("approval");
  return {
    scope,
    ...(scope === "server" ? {} : { name }),
    timeLimitMs: numberOf(form, "minutes", 60_000),
    devices: numberOf(form, "devices", 1),
    dataBytes: numberOf(form, "megabytes", 1_000_000),
    approval: approval === "" ? null : approval === "yes",
  };
}
