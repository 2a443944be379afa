// Reads a trial's parameters from their JSON text. Each parameter keeps the text that Python wrote: `1.0` stays `1.0`,
// and a large integer keeps every digit. Also reads the data that a trial attached to its result: its user attributes,
// and the numbers that it returned with its value. Page thread; pure.

import { jsonTree, plainJson, readableJson } from "../../i18n/json_tree.ts";

export interface Param {
  readonly name: string;
  /** The value as JSON text with its numbers as they were written. A tuple is written as a list. */
  readonly raw: string;
  /** The value for sorting and for display. A number may have lost digits here; a list, tuple or dict is a text. */
  readonly value: unknown;
}

/** Returns a trial's parameters; an empty list if the text is not a JSON object. */
export function paramsOf(text: string): readonly Param[] {
  try {
    JSON.parse(text);
  } catch {
    return [];
  }
  const tree = jsonTree(text);
  if (tree.kind !== "object") {
    return [];
  }
  return tree.members.map(([name, value]) => ({
    name: JSON.parse(name) as string,
    raw: plainJson(value),
    value: value.kind === "scalar" ? (JSON.parse(value.token) as unknown) : readableJson(value),
  }));
}

/** Returns a value for display: a string without its quotes, everything else as it was written. */
export function paramText({ raw, value }: Pick<Param, "raw" | "value">): string {
  return typeof value === "string" ? value : raw;
}

export interface Attached {
  readonly user: readonly Param[];
  readonly summary: readonly (readonly [name: string, value: number])[];
  /** The infinite values among the objective's, by index: the row has the largest double in the place of each. */
  readonly infinite: ReadonlyMap<number, number>;
}

const NOT_FINITE: readonly unknown[] = ["NaN", "Infinity", "-Infinity"];
const INFINITE: ReadonlyMap<unknown, number> = new Map([
  ["inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
]);
const NOTHING: Attached = { user: [], summary: [], infinite: new Map() };

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the attached data. `text` is JSON from a volunteer's device, so malformed parts are left out. */
export function attachedOf(text: string | undefined): Attached {
  if (text === undefined || text === "") {
    return NOTHING;
  }
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    return NOTHING;
  }
  if (!isRecord(told)) {
    return NOTHING;
  }
  const summary = isRecord(told.summary) ? Object.entries(told.summary) : [];
  const values: readonly unknown[] = Array.isArray(told.values) ? told.values : [];
  return {
    infinite: new Map(
      values.flatMap((text, i) => {
        const value = INFINITE.get(text);
        return value === undefined ? [] : [[i, value] as const];
      }),
    ),
    user: isRecord(told.user) ? paramsOf(JSON.stringify(told.user)) : [],
    summary: summary.flatMap(([name, value]) =>
      typeof value === "number" || NOT_FINITE.includes(value) ? [[name, Number(value)]] : [],
    ),
  };
}
