// Reads a trial's parameters from their JSON text. Each keeps the text that Python wrote: `1.0` stays `1.0`, and a large
// integer keeps every digit. Page thread; pure.

export interface Param {
  readonly name: string;
  /** The value as JSON text, exactly. */
  readonly raw: string;
  /** The value for sorting and for display. A number may have lost digits here. */
  readonly value: unknown;
}

const STRING = /\s*("(?:[^"\\]|\\.)*")\s*/y;
const SCALAR = /\s*("(?:[^"\\]|\\.)*"|[^\s",:[\]{}]+)\s*/y;

function take(pattern: RegExp, text: string, at: number): { token: string; end: number } | null {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null ? null : { token: found[1] ?? "", end: pattern.lastIndex };
}

/** Returns the members of an object, each with its own text. Returns null if a value is not a scalar. */
function rawMembers(text: string): ReadonlyMap<string, string> | null {
  const members = new Map<string, string>();
  let at = text.indexOf("{") + 1;
  for (;;) {
    const name = take(STRING, text, at);
    if (name === null || text[name.end] !== ":") {
      return null;
    }
    const value = take(SCALAR, text, name.end + 1);
    if (value === null) {
      return null;
    }
    members.set(JSON.parse(name.token) as string, value.token);
    if (text[value.end] !== ",") {
      return members;
    }
    at = value.end + 1;
  }
}

/** Returns an empty list for anything that is not the JSON text of an object. */
export function paramsOf(text: string): readonly Param[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return [];
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    return [];
  }
  const raw = rawMembers(text);
  return Object.entries(parsed).map(([name, value]: [string, unknown]) => ({
    name,
    raw: raw?.get(name) ?? JSON.stringify(value),
    value,
  }));
}

/** Returns a value for display: a string without its quotes, everything else as it was written. */
export function paramText({ raw, value }: Pick<Param, "raw" | "value">): string {
  return typeof value === "string" ? value : raw;
}
