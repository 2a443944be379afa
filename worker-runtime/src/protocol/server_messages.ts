// Messages from the server (server/docs/protocol.md). Pure; any thread.

import * as v from "valibot";
import {
  failure,
  kAnswerBytes,
  kAttrsBytes,
  kDistributionBytes,
  kOwnerItems,
} from "./client_messages.ts";
import {
  constant,
  count,
  fields,
  fileName,
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
  record,
  sha256,
  text,
  textBytes,
  unionBy,
  variantOf,
} from "./fields.ts";

const message = text(1024);
const code = text(64);

const lease = fields({
  attempt: identifier,
  study: identifier,
  trial: count,
  kind: oneOf(["primary", "duplicate", "replica"]),
  study_name: text(),
  owner: text(),
  total: count,
  params: textBytes(kParamsBytes),
  seed: integer(0, 2 ** 32 - 1),
  entry: text(512),
  bundle: fields({ sha256, bytes: count }),
  data: list(
    fields({
      name: text(),
      kind: oneOf(["npy", "npz", "file"]),
      filename: fileName,
      sha256,
      bytes: count,
    }),
    64,
  ),
  runtime: fields({
    chainer: text(),
    backend: v.exactOptional(oneOf(["auto", "webgpu", "cpu"])),
  }),
  time_limit_ms: count,
  lease_ms: count,
  checkpoint: v.exactOptional(
    fields({
      attempt: identifier,
      format: oneOf(["tree", "npz"]),
      sha256,
      bytes: count,
      step: v.exactOptional(count),
    }),
  ),
  asked: v.exactOptional(flag),
  directions: v.exactOptional(integer(1, 8)),
  suggested: v.exactOptional(textBytes(256 * 1024)),
  attrs: v.exactOptional(textBytes(kAttrsBytes)),
});

const flagReply = fields({ type: constant("reply"), id: count, value: flag });
/** Of `suggest`: the value as JSON text. */
const textReply = fields({ type: constant("reply"), id: count, text: textBytes(kAnswerBytes) });

const ofAttempt = { trial: count, attempt: identifier };
const step = v.optional(fields({ step: v.exactOptional(count) }), {});

// What a batch tells the owner of a study.
const ownerCall = v.pipe(
  record,
  unionBy("method", [
    variantOf({
      id: count,
      method: constant("suggest"),
      ...ofAttempt,
      args: fields({ name: name(), distribution: textBytes(kDistributionBytes) }),
    }),
    variantOf({
      id: count,
      method: constant("should_prune"),
      ...ofAttempt,
      args: step,
      points: v.optional(points, []),
    }),
    variantOf({ method: constant("points"), ...ofAttempt, points }),
    variantOf({ method: constant("resumed"), ...ofAttempt, args: step }),
    variantOf({ method: constant("started"), ...ofAttempt, args: fields({ device: text() }) }),
    variantOf({
      method: constant("finished"),
      trial: count,
      attempt: v.exactOptional(identifier),
      args: fields({
        state: oneOf(["complete", "pruned", "failed"]),
        values: list(number, 8),
        params: textBytes(kParamsBytes),
        attrs: v.exactOptional(textBytes(kAttrsBytes)),
        error: v.exactOptional(failure),
        seq: identifier,
        device: v.exactOptional(text()),
      }),
      points: v.optional(points, []),
    }),
  ]),
);

/** One schema for each type that the server sends. */
export const kServerSchemas = {
  welcome: fields({
    type: constant("welcome"),
    protocol: integer(0, 2 ** 31 - 1),
    session: count,
    server: text(),
    heartbeat_ms: count,
    lease_ms: count,
    attempts: list(identifier, 16),
  }),
  refused: fields({ type: constant("refused"), code, message }),
  lease: fields({ type: constant("lease"), lease }),
  wait: fields({
    type: constant("wait"),
    delay_ms: count,
    reason: oneOf(["no_work", "no_matching_work", "draining", "read_only"]),
  }),
  ack: fields({
    type: constant("ack"),
    attempt: v.exactOptional(identifier),
    seq: v.exactOptional(identifier),
  }),
  result_ack: fields({
    type: constant("result_ack"),
    attempt: identifier,
    seq: identifier,
    verdict: oneOf(["accepted", "evidence", "recorded"]),
    lease: v.exactOptional(lease),
  }),
  reply: v.lazy((input) => (hasField(input, "text") ? textReply : flagReply)),
  error: fields({
    type: constant("error"),
    code,
    message,
    field: v.exactOptional(text()),
    id: v.exactOptional(count),
    attempt: v.exactOptional(identifier),
    study: v.exactOptional(identifier),
    trial: v.exactOptional(count),
  }),
  revoke: fields({
    type: constant("revoke"),
    attempt: identifier,
    code: oneOf(["cancelled", "timeout", "stalled", "superseded", "device_revoked"]),
    message,
  }),
  update: fields({
    type: constant("update"),
    study: record,
    trials: list(record, 10_000),
    cursor: count,
  }),
  log: fields({
    type: constant("log"),
    study: identifier,
    trial: count,
    lines: list(fields({ line: identifier, attempt: identifier, text: text(2000) }), 10_000),
    cursor: count,
  }),
  call: fields({
    type: constant("call"),
    study: identifier,
    generation: count,
    batch: count,
    demand: count,
    calls: list(ownerCall, kOwnerItems),
  }),
} as const;

export type ServerMessages = {
  [Type in keyof typeof kServerSchemas]: v.InferOutput<(typeof kServerSchemas)[Type]>;
};
export type ServerMessage = ServerMessages[keyof ServerMessages];
export type Lease = ServerMessages["lease"]["lease"];
export type Checkpoint = NonNullable<Lease["checkpoint"]>;
export type WantedBackend = NonNullable<Lease["runtime"]["backend"]>;
export type DataItem = Lease["data"][number];
export type WaitReason = ServerMessages["wait"]["reason"];
