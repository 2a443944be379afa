// The self-test's checks that need no Python. Each tries its feature; none decides by the browser's name. Page thread.

import {
  createArrayMemory,
  hasJspi,
  hasRelaxedSimd,
  hasSimd,
  missingOf,
  replaced,
  sharesMemory,
} from "@hyperflock/worker-runtime/selftest";
import { type CheckName, type Finding, finding } from "./finding.ts";

const MIB = 1_048_576;
const GIB = 1024 * MIB;
/** With a smaller storage quota, a browser soon deletes stored data. */
const LEAST_QUOTA_BYTES = 256 * MIB;
const FINE_CLOCK_MS = 0.1;
const GPU_MS = 8_000;

/** Undefined where WebAssembly is switched off. */
const engine = (globalThis as { readonly WebAssembly?: typeof WebAssembly }).WebAssembly;

const present = (isThere: boolean): Finding => finding(isThere ? "ok" : "missing");

async function webgpu(): Promise<Finding> {
  if (navigator.gpu === undefined) {
    return finding("missing", "navigator.gpu");
  }
  // While the graphics driver starts, the first request for an adapter may return null.
  const adapter = (await navigator.gpu.requestAdapter()) ?? (await navigator.gpu.requestAdapter());
  if (adapter === null) {
    return finding("missing", "requestAdapter() = null");
  }
  // In Safari, `info` may lack some fields. Older engines lack `info` itself.
  const info: Partial<GPUAdapterInfo> = adapter.info ?? {};
  const { limits } = adapter;
  const detail = [
    [info.vendor, info.architecture].filter((part) => part).join(" ") || "?",
    `${limits.maxStorageBuffersPerShaderStage} storage buffers`,
    `${Math.floor(limits.maxStorageBufferBindingSize / MIB)} MiB a binding`,
    `${limits.maxComputeInvocationsPerWorkgroup} invocations`,
    `${limits.maxComputeWorkgroupStorageSize / 1024} KiB workgroup`,
    adapter.features.has("shader-f16") ? "f16" : "no f16",
  ].join(", ");
  return info.isFallbackAdapter === true
    ? finding("limited", `software: ${detail}`)
    : finding("ok", detail);
}

function basics(): Finding {
  const missing = missingOf(globalThis);
  return finding(missing.length === 0 ? "ok" : "missing", missing.join(", "));
}

function webgl2(): Finding {
  if (typeof OffscreenCanvas === "undefined") {
    return finding("missing", "OffscreenCanvas");
  }
  const context = new OffscreenCanvas(1, 1).getContext("webgl2");
  if (context === null) {
    return finding("missing");
  }
  const floats = context.getExtension("EXT_color_buffer_float") !== null;
  const size = context.getParameter(context.MAX_TEXTURE_SIZE) as number;
  return finding(
    floats ? "ok" : "limited",
    `${size} px, ${floats ? "" : "no "}EXT_color_buffer_float`,
  );
}

function memory(): Finding {
  const { deviceMemory } = navigator as { readonly deviceMemory?: number };
  const cores = navigator.hardwareConcurrency ?? 1;
  return deviceMemory === undefined
    ? finding("limited", `navigator.deviceMemory: -, ${cores} cores`)
    : finding(deviceMemory >= 2 ? "ok" : "limited", `${deviceMemory} GiB, ${cores} cores`);
}

async function storage(): Promise<Finding> {
  if (navigator.storage?.estimate === undefined) {
    return finding("missing", "navigator.storage");
  }
  const { quota = 0, usage = 0 } = await navigator.storage.estimate();
  const detail = `${(usage / MIB).toFixed(1)} MiB of ${(quota / GIB).toFixed(1)} GiB`;
  return finding(quota >= LEAST_QUOTA_BYTES ? "ok" : "limited", detail);
}

async function wakeLock(): Promise<Finding> {
  if (!("wakeLock" in navigator)) {
    return finding("missing");
  }
  const sentinel = await navigator.wakeLock.request("screen");
  await sentinel.release();
  return finding("ok");
}

/** Measures the smallest of several steps of the browser's clock. */
function clock(): Finding {
  let least = Number.POSITIVE_INFINITY;
  const end = performance.now() + 50;
  for (let last = performance.now(); last < end; ) {
    const now = performance.now();
    if (now > last) least = Math.min(least, now - last);
    last = now;
  }
  return finding(least <= FINE_CLOCK_MS ? "ok" : "limited", `${least.toFixed(4)} ms`);
}

function arrayMemory(): Finding {
  if (!sharesMemory(globalThis)) {
    return finding("missing");
  }
  const granted = largestShared();
  return finding(granted >= 512 ? "ok" : "limited", `${granted} MiB`);
}

/** Returns the size in MiB of the largest shared memory that can be created; 0 if none can. */
function largestShared(): number {
  for (const mib of [2048, 1024, 512, 256]) {
    try {
      createArrayMemory(mib * MIB);
      return mib;
    } catch {
      // The browser refuses a memory of this size, so the next smaller size is tried.
    }
  }
  return 0;
}

type Check = () => Finding | Promise<Finding>;

const checks: Readonly<Record<Exclude<CheckName, "numpy" | "thread">, Check>> = {
  isolation: () =>
    finding(crossOriginIsolated ? "ok" : "missing", `crossOriginIsolated = ${crossOriginIsolated}`),
  basics,
  shared_memory: () =>
    finding(
      sharesMemory(globalThis) ? "ok" : "missing",
      `SharedArrayBuffer: ${typeof SharedArrayBuffer}`,
    ),
  wasm_simd: () => present(hasSimd(engine)),
  relaxed_simd: () => present(hasRelaxedSimd(engine)),
  jspi: () => present(hasJspi(globalThis)),
  functions: () => finding(replaced.length === 0 ? "ok" : "limited", replaced.join(", ")),
  webgpu: () => Promise.race([webgpu(), late(GPU_MS)]),
  webgl2,
  memory,
  array_memory: arrayMemory,
  storage,
  wake_lock: wakeLock,
  web_locks: () => present(navigator.locks !== undefined),
  clock,
};

function late(ms: number): Promise<Finding> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(finding("failed", `no answer for ${ms / 1000} s`)), ms);
  });
}

/** Runs the checks one after the other, and reports each result at once. Never rejects. */
export async function runChecks(tell: (name: CheckName, found: Finding) => void): Promise<void> {
  for (const [name, check] of Object.entries(checks) as [keyof typeof checks, Check][]) {
    try {
      tell(name, await check());
    } catch (error) {
      tell(name, finding("failed", error instanceof Error ? error.message : String(error)));
    }
  }
}
