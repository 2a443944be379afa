// Every state that the self-test page can show, with plausible and with awkward content. Pure data.

import type { UnsupportedReason } from "@hyperflock/worker-runtime/page";
import type { CheckName, Finding } from "../selftest/finding.ts";
import type { Sent } from "../selftest/upload.ts";

export interface SelfTestStory {
  readonly code: string | null;
  readonly obstacle: UnsupportedReason | null;
  readonly findings: Partial<Readonly<Record<CheckName, Finding>>>;
  /** The state of the check that runs Python. */
  readonly python: "not_run" | "loading" | "right" | "wrong";
  readonly sent: Sent | "sending" | null;
}

const GOOD = {
  isolation: { state: "ok", detail: "crossOriginIsolated = true" },
  basics: { state: "ok", detail: "" },
  thread: { state: "ok", detail: "" },
  shared_memory: { state: "ok", detail: "SharedArrayBuffer: function" },
  wasm_simd: { state: "ok", detail: "" },
  relaxed_simd: { state: "ok", detail: "" },
  jspi: { state: "ok", detail: "" },
  functions: { state: "ok", detail: "" },
  webgpu: {
    state: "ok",
    detail: "qualcomm adreno-7xx, 10 storage buffers, 128 MiB a binding, 256 invocations, f16",
  },
  webgl2: { state: "ok", detail: "8192 px, EXT_color_buffer_float" },
  memory: { state: "ok", detail: "8 GiB, 8 cores" },
  array_memory: { state: "ok", detail: "2048 MiB" },
  storage: { state: "ok", detail: "12.4 MiB of 60.1 GiB" },
  wake_lock: { state: "ok", detail: "" },
  web_locks: { state: "ok", detail: "" },
  clock: { state: "ok", detail: "0.0050 ms" },
} as const satisfies SelfTestStory["findings"];

const POOR: SelfTestStory["findings"] = {
  ...GOOD,
  isolation: { state: "missing", detail: "crossOriginIsolated = false" },
  shared_memory: { state: "missing", detail: "SharedArrayBuffer: undefined" },
  relaxed_simd: { state: "missing", detail: "" },
  jspi: { state: "missing", detail: "" },
  functions: { state: "limited", detail: "Promise.withResolvers, AbortSignal.any" },
  webgpu: { state: "limited", detail: "software: google swiftshader" },
  webgl2: { state: "failed", detail: "x".repeat(256) },
  memory: { state: "limited", detail: "navigator.deviceMemory: -, 4 cores" },
  wake_lock: {
    state: "failed",
    detail: "NotAllowedError: The request is not allowed by the user agent in this context.",
  },
};

const BASE: SelfTestStory = {
  code: "hfe_Zm9yLXN0b3JpZXMtb25seQ",
  obstacle: null,
  findings: GOOD,
  python: "not_run",
  sent: null,
};

export const selfTestStories = {
  good: BASE,
  looking: { ...BASE, findings: { isolation: GOOD.isolation } },
  poor: { ...BASE, findings: POOR, obstacle: "not_isolated" },
  poor_thread: { ...BASE, obstacle: "no_crypto" },
  without_code: { ...BASE, code: null },
  python_loads: { ...BASE, python: "loading" },
  python_right: { ...BASE, python: "right" },
  python_wrong: { ...BASE, python: "wrong" },
  sending: { ...BASE, sent: "sending" },
  sent: { ...BASE, python: "right", sent: { kind: "sent", number: 1234 } },
  refused: { ...BASE, sent: { kind: "refused", code: "rate_limited" } },
} as const satisfies Readonly<Record<string, SelfTestStory>>;

export type SelfTestStoryName = keyof typeof selfTestStories;
