// Reads a row of the console with its schema in rows.ts, which is generated. Page thread; pure.

import * as v from "valibot";
import { fieldPath } from "./fields.ts";

/** Thrown if the console's answer does not match the schema. */
export class RowError extends Error {
  override readonly name = "RowError";
  readonly code = "bad_answer";
}

/** Checks one JSON value. Throws RowError. */
export function readRow<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const field = fieldPath(issue) ?? "The answer";
  throw new RowError(
    issue.message === "missing_field"
      ? `${field} is missing.`
      : `${field} must be ${issue.expected ?? "another value"}.`,
  );
}
