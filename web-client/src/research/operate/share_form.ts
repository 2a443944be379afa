// Reads the form in which an administrator sets a share of the devices (R70). Page thread; pure.

import type { ShareRow } from "../model/rows.ts";

/** Returns the share that a form asks for. An empty weight is the usual one. */
export function shareOf(form: FormData): ShareRow {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const scope = text("scope") === "project" ? "project" : "researcher";
  const lends = text("lends")
    .split("\n")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return {
    scope,
    name: text("name"),
    weight: text("weight") === "" ? null : Number(text("weight")),
    guaranteed: text("guaranteed") === "" ? 0 : Number(text("guaranteed")),
    lends: scope === "project" ? lends : [],
  };
}
