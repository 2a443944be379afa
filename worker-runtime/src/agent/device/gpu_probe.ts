// Finds the graphics device that this browser would give to trials: by WebGPU, or else by WebGL2. The agent asks once, before it sends `hello`. The
// answer is as coarse as scheduling allows, because a fingerprint is personal data. Runs on the agent thread.

import type { WebGl2Facts } from "../../gpu/webgl2/webgl2_probe.ts";
import { requestAdapter } from "../../gpu/webgpu/webgpu_open.ts";
import type { GpuFacts } from "../../protocol/index.ts";

const MIB = 1_048_576;
/** The time limit of the probe. The browser's graphics process may hang, and trials can also run on the CPU. */
const PROBE_MS = 5_000;
const ADAPTER_CHARACTERS = 64;
/** Matches adapters that run on the CPU and do not always report that. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|basic render/i;

/** A graphics device, and the back end of array-core that uses it. */
export interface Graphics {
  readonly backend: "webgpu" | "webgl2";
  readonly facts: GpuFacts;
}

/** Returns the device; undefined if this browser has neither WebGPU nor WebGL2, or if it does not answer in time. */
export async function probeGraphics(
  gpu: GPU | undefined,
  pause: (ms: number) => Promise<void>,
): Promise<Graphics | undefined> {
  const facts = await probeGpu(gpu, pause);
  if (facts !== undefined) return { backend: "webgpu", facts };
  const asked = askWebGl2().catch(() => undefined);
  return await Promise.race([asked, pause(PROBE_MS).then(() => undefined)]);
}

async function askWebGl2(): Promise<Graphics | undefined> {
  const { probeWebGl2 } = await import("../../gpu/webgl2/webgl2_probe.ts");
  const found = probeWebGl2();
  return found === undefined ? undefined : { backend: "webgl2", facts: webGl2FactsOf(found) };
}

/** Returns the facts of a device that is used by WebGL2, which has no float16. */
export function webGl2FactsOf({ vendor, isSoftware, maxBufferBytes }: WebGl2Facts): GpuFacts {
  return {
    adapter: (vendor.toLowerCase() || "unknown").slice(0, ADAPTER_CHARACTERS),
    software: isSoftware,
    f16: false,
    buffer_mb: 2 ** Math.floor(Math.log2(Math.max(1, maxBufferBytes / MIB))),
  };
}

/** Returns the device's facts; undefined without WebGPU, or if no adapter answers in time. */
export async function probeGpu(
  gpu: GPU | undefined,
  pause: (ms: number) => Promise<void>,
): Promise<GpuFacts | undefined> {
  if (gpu === undefined) return undefined;
  const asked = requestAdapter(gpu).then(factsOf, () => undefined);
  return await Promise.race([asked, pause(PROBE_MS).then(() => undefined)]);
}

/** Returns the adapter's vendor and architecture, never its model, and sizes as powers of two. */
export function factsOf(adapter: Pick<GPUAdapter, "features" | "limits" | "info">): GpuFacts {
  // In Safari, `info` may lack some fields. Older engines lack `info` itself.
  const info: Partial<GPUAdapterInfo> = adapter.info ?? {};
  const words = [info.vendor, info.architecture].filter(
    (text) => text !== undefined && text !== "",
  );
  const largest = Math.min(
    adapter.limits.maxBufferSize,
    adapter.limits.maxStorageBufferBindingSize,
  );
  const described = `${words.join(" ")} ${info.device ?? ""} ${info.description ?? ""}`;
  return {
    adapter: (words.join(" ") || "unknown").slice(0, ADAPTER_CHARACTERS),
    software: info.isFallbackAdapter === true || SOFTWARE.test(described),
    f16: adapter.features.has("shader-f16"),
    buffer_mb: 2 ** Math.floor(Math.log2(Math.max(1, largest / MIB))),
  };
}
