// Tests the codec with every golden file of the protocol. The C++ and Python codecs read the same files.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  MAX_FRAME_BYTES,
  ProtocolError,
  parseClientMessage,
  parseServerMessage,
  serialize,
} from "./index.ts";
import { CLIENT_SCHEMAS, SERVER_SCHEMAS } from "./messages.ts";

type Direction = "client" | "server";
interface Valid {
  readonly direction: Direction;
  readonly message: { readonly type: string };
  readonly normal?: unknown;
}
interface Invalid {
  readonly direction: Direction;
  readonly text: string;
  readonly code: string;
  readonly field?: string;
}

const golden = fileURLToPath(new URL("../../../tests/protocol/golden/", import.meta.url));

function read<File>(folder: string): [name: string, file: File][] {
  const names = readdirSync(`${golden}${folder}`).filter((name) => name.endsWith(".json"));
  return names.map((name) => [
    name,
    JSON.parse(readFileSync(`${golden}${folder}/${name}`, "utf8")) as File,
  ]);
}

const parse = (direction: Direction, text: string) =>
  direction === "client" ? parseClientMessage(text) : parseServerMessage(text);

function refusal(run: () => unknown): ProtocolError {
  try {
    run();
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  throw new Error("The frame was taken.");
}

const valid = read<Valid>("valid");
const invalid = read<Invalid>("invalid");

test("There is a valid file for each type of both directions.", () => {
  const seen = (direction: Direction) =>
    new Set(valid.flatMap(([, f]) => (f.direction === direction ? [f.message.type] : [])));
  expect(seen("client")).toEqual(new Set(Object.keys(CLIENT_SCHEMAS)));
  expect(seen("server")).toEqual(new Set(Object.keys(SERVER_SCHEMAS)));
});

describe("valid", () => {
  test.each(valid)("%s makes the round trip", (_, file) => {
    const parsed = parse(file.direction, JSON.stringify(file.message));
    expect(JSON.parse(serialize(parsed))).toEqual(file.normal ?? file.message);
  });
});

describe("invalid", () => {
  test.each(invalid)("%s is refused with its code", (_, file) => {
    const error = refusal(() => parse(file.direction, file.text));
    expect({ code: error.code, field: error.field }).toEqual({
      code: file.code,
      field: file.field ?? error.field,
    });
  });
});

test("R1 A frame of more than 1 MiB of UTF-8 is frame_too_large.", () => {
  const frame = (fill: string) => `{"type":"ready","fill":"${fill}"}`;
  const room = MAX_FRAME_BYTES - frame("").length;
  expect(parseClientMessage(frame("a".repeat(room)))).toEqual({ type: "ready" });
  expect(refusal(() => parseClientMessage(frame("a".repeat(room + 1)))).code).toBe(
    "frame_too_large",
  );
  expect(refusal(() => parseClientMessage(frame("é".repeat(room - 1)))).code).toBe(
    "frame_too_large",
  );
});

test("R1 Half of a surrogate pair is no UTF-8, so it is malformed.", () => {
  const frame = String.raw`{"type":"ready","note":"\ud83d"}`;
  expect(refusal(() => parseClientMessage(frame)).code).toBe("malformed");
});
