// Messages to the server, from devices and researchers (server/docs/protocol.md). Pure; any thread.

import * as v from "valibot";
import {
  constant,
  count,
  fields,
  flag,
  hasField,
  identifier,
  integer,
  kParamsBytes,
  list,
  name,
  number,
  oneOf,
  points,
  text,
  textBytes,
  unionBy,
  variantOf,
} from "./fields.ts";

export const kProtocolVersion = 1;
export const kCodeCharacters = 64;
export const kMessageCharacters = 1024;
export const kTracebackBytes = 16 * 1024;
export const kPointsPerMessage = 1000;
export const kLineCharacters = 2000;
export const kLinesPerMessage = 200;
export const kDistributionBytes = 16 * 1024;
export const kAttrsBytes = 64 * 1024;
export const kAnswerBytes = 64 * 1024;
export const kOwnerItems = 1000;
export const kCauses = [
  "worker_lost",
  "user_error",
  "out_of_memory",
  "device_lost",
  "timeout",
  "invalid",
  "cancelled",
] as const;

const protocol = integer(0, 2 ** 31 - 1);

const capabilities = fields({
  backends: list(oneOf(["cpu", "webgpu", "webgl2"]), 8),
  memory_mb: count,
  cores: count,
  engine: text(),
  class: oneOf(["phone", "tablet", "desktop", "node"]),
  gpu: v.exactOptional(fields({ adapter: text(64), software: flag, f16: flag, buffer_mb: count })),
});

const hello = unionBy("role", [
  variantOf({
    type: constant("hello"),
    protocol,
    role: constant("device"),
    device: text(),
    secret: text(),
    agent: text(),
    capabilities,
    attempts: v.optional(list(identifier, 16), []),
  }),
  variantOf({
    type: constant("hello"),
    protocol,
    role: constant("researcher"),
    token: text(),
    agent: text(),
  }),
]);

const pulse = fields({
  attempt: identifier,
  progress: count,
  state: oneOf(["loading", "running", "waiting_call"]),
});

export const failure = fields({
  cause: oneOf(kCauses),
  code: text(kCodeCharacters),
  message: text(kMessageCharacters),
  traceback: v.optional(textBytes(kTracebackBytes), ""),
});

const resultEntries = {
  type: constant("result"),
  attempt: identifier,
  seq: identifier,
};
const resultTail = {
  points: v.optional(points, []),
  metrics: v.optional(fields({ load_ms: count, run_ms: count }), { load_ms: 0, run_ms: 0 }),
  backend: v.optional(text(), ""),
  next: v.optional(flag, false),
  attrs: v.exactOptional(textBytes(kAttrsBytes)),
  software: v.exactOptional(text()),
};

const values = v.pipe(list(number, 8), v.minLength(1, "bad_field"));

const result = unionBy("outcome", [
  variantOf({ ...resultEntries, outcome: constant("complete"), values, ...resultTail }),
  variantOf({ ...resultEntries, outcome: constant("pruned"), ...resultTail }),
  variantOf({ ...resultEntries, outcome: constant("failed"), error: failure, ...resultTail }),
]);

const callEntries = { type: constant("call"), id: count, attempt: identifier };

const suggestCall = fields({
  ...callEntries,
  method: constant("suggest"),
  args: fields({ name: name(), distribution: textBytes(kDistributionBytes) }),
  points: v.optional(points, []),
});

// What the server does not know it refuses itself (`unknown_method`).
const otherCall = fields({
  ...callEntries,
  method: text(),
  args: v.optional(fields({ step: v.exactOptional(count) }), {}),
  points: v.optional(points, []),
});

const ownerValue = fields({ id: count, value: textBytes(kAnswerBytes) });
const ownerRefusal = fields({
  id: count,
  code: name(kCodeCharacters),
  message: text(kMessageCharacters),
});
const ownerAnswer = v.lazy((input) => (hasField(input, "code") ? ownerRefusal : ownerValue));

/** One schema for each type that a device or a researcher sends. */
export const kClientSchemas = {
  hello,
  ready: fields({ type: constant("ready") }),
  heartbeat: fields({ type: constant("heartbeat"), attempts: list(pulse, 16) }),
  report: fields({ type: constant("report"), attempt: identifier, seq: identifier, points }),
  call: v.lazy((input) => (hasField(input, "method", "suggest") ? suggestCall : otherCall)),
  result,
  release: fields({
    type: constant("release"),
    attempt: identifier,
    seq: identifier,
    reason: oneOf(["page_hidden", "stopped", "shutdown", "cannot_run", "no_owner"]),
  }),
  output: fields({
    type: constant("output"),
    attempt: identifier,
    lines: list(text(kLineCharacters), kLinesPerMessage),
    dropped: v.optional(count, 0),
  }),
  watch: fields({
    type: constant("watch"),
    study: identifier,
    after: count,
    trial: v.exactOptional(count),
    log_after: v.exactOptional(count),
    own: v.exactOptional(fields({ label: name(128), standby: v.optional(flag, false) })),
  }),
  reply: fields({
    type: constant("reply"),
    study: identifier,
    taken: count,
    room: count,
    target: v.exactOptional(count),
    replies: v.optional(list(ownerAnswer, kOwnerItems), []),
    asked: v.optional(
      list(
        fields({
          trial: count,
          params: v.optional(textBytes(kParamsBytes), "{}"),
          attrs: v.exactOptional(textBytes(kAttrsBytes)),
        }),
        kOwnerItems,
      ),
      [],
    ),
    finish: v.optional(flag, false),
  }),
} as const;

export type ClientMessages = {
  [Type in keyof typeof kClientSchemas]: v.InferOutput<(typeof kClientSchemas)[Type]>;
};
export type ClientMessage = ClientMessages[keyof ClientMessages];
export type DeviceHello = Extract<ClientMessages["hello"], { role: "device" }>;
export type Capabilities = DeviceHello["capabilities"];
export type GpuFacts = NonNullable<Capabilities["gpu"]>;
export type Pulse = ClientMessages["heartbeat"]["attempts"][number];
export type Result = ClientMessages["result"];
export type Failure = Extract<Result, { outcome: "failed" }>["error"];
export type ReleaseReason = ClientMessages["release"]["reason"];
export type Point = readonly [step: number, value: number];
