// Converts between JSON text and messages. No other code reads a peer's frames (R1 to R4). Pure; any thread.

import * as v from "valibot";
import { fieldPath, hasAtMostBytes, type ParseCode } from "./fields.ts";
import { MAX_DEPTH, MAX_FRAME_BYTES } from "./limits.ts";
import {
  CLIENT_SCHEMAS,
  type ClientMessage,
  SERVER_SCHEMAS,
  type ServerMessage,
} from "./messages.ts";

/** Thrown if a frame is refused. `code` is a code of protocol.md, `field` the path of the wrong field. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
  readonly code: ParseCode;
  readonly field: string | null;

  constructor(code: ParseCode, message: string, field: string | null = null) {
    super(message);
    this.code = code;
    this.field = field;
  }
}

/** Reads one frame of a device or a researcher. Throws ProtocolError. */
export function parseClientMessage(frame: string): ClientMessage {
  return parseWith(CLIENT_SCHEMAS, frame) as ClientMessage;
}

/** Reads one frame of the server. Throws ProtocolError. */
export function parseServerMessage(frame: string): ServerMessage {
  return parseWith(SERVER_SCHEMAS, frame) as ServerMessage;
}

export function serialize(message: ClientMessage | ServerMessage): string {
  return JSON.stringify(message);
}

function parseWith(schemas: Readonly<Record<string, v.GenericSchema>>, frame: string): unknown {
  const value = parseJson(frame);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ProtocolError("malformed", "A frame is one JSON object.");
  }
  const type = "type" in value ? value.type : undefined;
  if (typeof type !== "string") {
    throw new ProtocolError("malformed", "A message has a field 'type' with a string.");
  }
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (schema === undefined) {
    throw new ProtocolError("unknown_type", `There is no message '${type.slice(0, 64)}' here.`);
  }
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const field = fieldPath(issue);
  throw new ProtocolError(
    issue.message as ParseCode,
    `${field ?? "the message"}: expected ${issue.expected ?? "another value"}.`,
    field,
  );
}

function parseJson(frame: string): unknown {
  if (!hasAtMostBytes(frame, MAX_FRAME_BYTES)) {
    throw new ProtocolError("frame_too_large", `A frame is at most ${MAX_FRAME_BYTES} bytes.`);
  }
  if (isDeeperThan(frame, MAX_DEPTH)) {
    throw new ProtocolError("malformed", `A message is nested at most ${MAX_DEPTH} deep.`);
  }
  try {
    const value: unknown = JSON.parse(frame);
    if (frame.includes("\\u") && !hasWellFormedText(value)) {
      throw new ProtocolError("malformed", "A string holds half of a surrogate pair.");
    }
    return value;
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    throw new ProtocolError("malformed", "A frame is JSON text.");
  }
}

// Returns whether JSON is nested too deeply. Checked first, as JSON.parse could exhaust the stack in some engines.
function isDeeperThan(frame: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < frame.length; at += 1) {
    const unit = frame.charCodeAt(at);
    if (inString) {
      if (unit === 0x5c) at += 1;
      else if (unit === 0x22) inString = false;
    } else if (unit === 0x22) {
      inString = true;
    } else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (unit === 0x7d || unit === 0x5d) {
      depth -= 1;
    }
  }
  return false;
}

// Returns whether all texts are valid Unicode. A frame is UTF-8, so only an escape can give a lone surrogate.
function hasWellFormedText(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(
    ([key, item]) => key.isWellFormed() && hasWellFormedText(item),
  );
}
