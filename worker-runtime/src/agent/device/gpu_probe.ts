// What graphics device this browser would give to trials: asked once, before the device introduces itself. As coarse as
// scheduling allows, because fingerprints are personal data. Runs on the agent thread.

import { requestAdapter } from "../../gpu/webgpu/webgpu_open.ts";
import type { GpuFacts } from "../../protocol/index.ts";

const MIB = 1_048_576;
/** A browser whose graphics process hangs must not keep the device from computing. */
const PROBE_MS = 5_000;
const ADAPTER_CHARACTERS = 64;
/** Adapters that do not always say themselves that they are programs on the CPU. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|basic render/i;

/** Undefined: this browser has no WebGPU here, or no adapter that answers in time. */
export async function probeGpu(
  gpu: GPU | undefined,
  pause: (ms: number) => Promise<void>,
): Promise<GpuFacts | undefined> {
  if (gpu === undefined) return undefined;
  const asked = requestAdapter(gpu).then(factsOf, () => undefined);
  return await Promise.race([asked, pause(PROBE_MS).then(() => undefined)]);
}

/** Vendor and architecture of the adapter, never the model; sizes as powers of two. */
export function factsOf(adapter: Pick<GPUAdapter, "features" | "limits" | "info">): GpuFacts {
  // Safari may lack fields, and older engines the record itself.
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
