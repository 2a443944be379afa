// Reads the description of an upload: a checkpoint or an artifact. Pure; agent thread.

import * as v from "valibot";
import { textBytes } from "../../protocol/fields.ts";
import type { Checkpoint } from "../../protocol/index.ts";
import { argumentsOf, type RefusedCall } from "./asked_call.ts";

export type UploadHead =
  | {
      readonly of: "checkpoint";
      readonly format: Checkpoint["format"];
      /** The last step that was reported before the upload; null if none was. */
      readonly step: number | null;
      /** The last step of a series that was logged before the upload; null if none was. */
      readonly logged: number | null;
    }
  | {
      readonly of: "artifact";
      readonly id: string;
      /** The file's name, without a folder. */
      readonly name: string;
      /** The file's MIME type. */
      readonly type: string;
      /** The name by which the researcher's process finds its artifact store; empty without one. */
      readonly store: string;
    };

const NAME_BYTES = 255;
const TYPE_BYTES = 127;

const step = v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));

// The server checks these fields again. Here they only have to fit into the upload's URL.
const head = v.variant("of", [
  v.object({
    of: v.literal("checkpoint"),
    format: v.picklist(["tree", "npz"]),
    step,
    logged: v.optional(step, null),
  }),
  v.object({
    of: v.literal("artifact"),
    id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/)),
    name: v.pipe(textBytes(NAME_BYTES), v.minLength(1)),
    type: v.pipe(textBytes(TYPE_BYTES), v.minLength(1)),
    store: textBytes(NAME_BYTES),
  }),
]);

export function parseUploadHead(payload: string): UploadHead | RefusedCall {
  const parsed = v.safeParse(head, argumentsOf(payload));
  if (parsed.success) return parsed.output;
  const message = `What is uploaded is a checkpoint or an artifact: ${parsed.issues[0].message}.`;
  return { code: "bad_arguments", message };
}
