// The kinds of fields in server/docs/protocol.md as valibot schemas. The message of each issue is a stable code of the
// protocol, so that the first issue of a parse is the protocol's error. Pure; any thread.

import * as v from "valibot";

export type ParseCode =
  | "malformed"
  | "frame_too_large"
  | "unknown_type"
  | "missing_field"
  | "bad_field"
  | "bad_number"
  | "too_long"
  | "too_many";

const utf8 = new TextEncoder();

/** Returns whether a text is within a limit in Unicode code points, which the codecs of all languages count. */
function hasAtMostCharacters(text: string, limit: number): boolean {
  if (text.length <= limit) return true;
  let count = 0;
  for (const _ of text) count += 1;
  return count <= limit;
}

/** Returns whether a text is within a limit in bytes of UTF-8. */
export function hasAtMostBytes(text: string, limit: number): boolean {
  return text.length * 3 <= limit || utf8.encode(text).length <= limit;
}

const kind: ParseCode = "bad_field";
const range: ParseCode = "bad_number";

export const number = v.pipe(v.number(kind), v.finite(range));

export const integer = (least = 0, most = Number.MAX_SAFE_INTEGER) =>
  v.pipe(number, v.integer(kind), v.minValue(least, range), v.maxValue(most, range));

const notFinite = v.picklist(["NaN", "Infinity", "-Infinity"], kind);
const noValue = v.null(kind);

/** A value of a series: a number, the name of one that is not finite, or null for no value. */
export const logged = v.lazy(
  (input): v.GenericSchema<number | v.InferOutput<typeof notFinite> | null> =>
    input === null ? noValue : typeof input === "string" ? notFinite : number,
);

export const flag = v.boolean(kind);

export const text = (limit = 256) =>
  v.pipe(
    v.string(kind),
    v.check((value) => hasAtMostCharacters(value, limit), "too_long" satisfies ParseCode),
  );

export const textBytes = (limit: number) =>
  v.pipe(
    v.string(kind),
    v.check((value) => hasAtMostBytes(value, limit), "too_long" satisfies ParseCode),
  );

/** A text that is not empty. */
export const name = (limit = 256) => v.pipe(text(limit), v.minLength(1, kind));

/** A text that matches `pattern`. */
export const matching = (pattern: RegExp, limit = Number.MAX_SAFE_INTEGER) =>
  v.pipe(text(limit), v.regex(pattern, kind));

export const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.picklist(options, kind);

export const constant = <const Value extends string>(value: Value) => v.literal(value, kind);

export const list = <Item extends v.GenericSchema>(
  item: Item,
  most = Number.MAX_SAFE_INTEGER,
  least = 0,
) =>
  v.pipe(
    v.array(v.unknown(), kind),
    v.maxLength(most, "too_many" satisfies ParseCode),
    v.minLength(least, kind),
    v.array(item, kind),
  );

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns whether an unchecked value is an object with the field `key`. If `value` is given, the field must have that
 * value.
 */
export function hasField(input: unknown, key: string, value?: string): boolean {
  if (!isRecord(input) || !Object.hasOwn(input, key)) return false;
  return value === undefined || input[key] === value;
}

/** An object whose content is not checked by the schema. */
export const record = v.custom<Record<string, unknown>>(isRecord, kind);

/** An object with these fields. Other fields are ignored (R2). */
export const fields = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(record, variantOf(entries));

/** One variant of a union that `unionBy` makes, with the fields of the variant. */
export const variantOf = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.object(entries, missing);

/** A union whose variants are distinguished by the field `key`. REQUIRES: the value is known to be an object. */
export const unionBy = <const Key extends string, const Options extends v.VariantOptions<Key>>(
  key: Key,
  options: Options,
) => v.variant(key, options, missing);

// Returns the error code for an issue of valibot about the field `key`, which is missing or has an unknown value.
function missing(issue: v.BaseIssue<unknown>): ParseCode {
  return issue.received === "undefined" ? "missing_field" : kind;
}

/** An array of exactly these items. */
export const tuple = <const Items extends v.TupleItems>(items: Items) =>
  v.pipe(
    v.custom<readonly unknown[]>(
      (value) => Array.isArray(value) && value.length === items.length,
      kind,
    ),
    v.tuple(items, kind),
  );

/** Returns the path of the wrong field, such as `points[1][0]` or `capabilities.class`. */
export function fieldPath(issue: v.BaseIssue<unknown>): string | null {
  let path = "";
  for (const item of issue.path ?? []) {
    if (typeof item.key === "number") path += `[${item.key}]`;
    else path += path === "" ? String(item.key) : `.${String(item.key)}`;
  }
  return path === "" ? null : path;
}
