// Opens a WebGPU device for the ring, with the adapter's limits, and describes its capabilities. A request for an
// adapter is tried twice. Runs on the gpu thread, or on the python thread if threads cannot share memory. Node uses
// Dawn.

import {
  type Capabilities,
  CommandError,
  type DeviceEvents,
  type DeviceLimits,
} from "../ring/executor.ts";
import { Backend, Capability, ErrorCode, MAX_UNIFORM_WORDS } from "../ring/layout.ts";
import { WebGpuExecutor } from "./webgpu_executor.ts";

/** The pause before the second try: a tab in the background or a starting driver may give no adapter at first. */
const RETRY_MS = 500;

export interface WebGpuOptions {
  /** The WebGPU interface; undefined if there is none. */
  readonly gpu: GPU | undefined;
  readonly events: DeviceEvents;
  /** Upper limits for the device's limits, so that it behaves like a smaller device. */
  readonly limits?: Partial<DeviceLimits>;
  /** Whether to open the device without native f16, as on a device that lacks it. */
  readonly withoutF16?: boolean;
}

export async function openWebGpu(options: WebGpuOptions): Promise<WebGpuExecutor> {
  const { gpu, events } = options;
  if (gpu === undefined)
    throw new CommandError(ErrorCode.noAdapter, "This browser has no WebGPU here.");
  const adapter = await requestAdapter(gpu);
  const features = (["shader-f16", "subgroups", "timestamp-query"] as const).filter(
    (name) => adapter.features.has(name) && !(name === "shader-f16" && options.withoutF16),
  );
  const limits = chosenLimits(adapter.limits, options.limits ?? {});
  let device: GPUDevice;
  try {
    device = await adapter.requestDevice({
      label: "arraycore",
      requiredFeatures: features,
      requiredLimits: {
        maxBufferSize: limits.maxBufferBytes,
        maxStorageBufferBindingSize: limits.maxBindingBytes,
        maxStorageBuffersPerShaderStage: limits.maxStorageBuffers,
        maxComputeWorkgroupStorageSize: limits.maxWorkgroupBytes,
        maxComputeInvocationsPerWorkgroup: limits.maxInvocations,
        maxComputeWorkgroupSizeX: limits.maxWorkgroupX,
        maxComputeWorkgroupSizeY: limits.maxWorkgroupY,
        maxComputeWorkgroupSizeZ: limits.maxWorkgroupZ,
        maxComputeWorkgroupsPerDimension: limits.maxGrid,
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(ErrorCode.noDevice, `The adapter gave no device: ${reason}`);
  }
  const capabilities = describe(adapter, device, limits);
  return new WebGpuExecutor(device, capabilities, events);
}

export async function requestAdapter(gpu: GPU): Promise<GPUAdapter> {
  const wish: GPURequestAdapterOptions = { powerPreference: "high-performance" };
  const first = await gpu.requestAdapter(wish);
  if (first !== null) return first;
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  const second = await gpu.requestAdapter(wish);
  if (second !== null) return second;
  throw new CommandError(ErrorCode.noAdapter, "WebGPU offers no adapter on this device.");
}

function chosenLimits(limits: GPUSupportedLimits, bounds: Partial<DeviceLimits>): DeviceLimits {
  const least = (offered: number, bound: number | undefined) =>
    Math.min(offered, bound ?? Number.POSITIVE_INFINITY);
  return {
    maxBufferBytes: least(limits.maxBufferSize, bounds.maxBufferBytes),
    maxBindingBytes: least(limits.maxStorageBufferBindingSize, bounds.maxBindingBytes),
    maxStorageBuffers: least(limits.maxStorageBuffersPerShaderStage, bounds.maxStorageBuffers),
    maxWorkgroupBytes: least(limits.maxComputeWorkgroupStorageSize, bounds.maxWorkgroupBytes),
    maxInvocations: least(limits.maxComputeInvocationsPerWorkgroup, bounds.maxInvocations),
    maxWorkgroupX: least(limits.maxComputeWorkgroupSizeX, bounds.maxWorkgroupX),
    maxWorkgroupY: least(limits.maxComputeWorkgroupSizeY, bounds.maxWorkgroupY),
    maxWorkgroupZ: least(limits.maxComputeWorkgroupSizeZ, bounds.maxWorkgroupZ),
    maxGrid: least(limits.maxComputeWorkgroupsPerDimension, bounds.maxGrid),
    maxUniformBytes: MAX_UNIFORM_WORDS * 4,
  };
}

function describe(adapter: GPUAdapter, device: GPUDevice, limits: DeviceLimits): Capabilities {
  // In Safari, `info` may lack some fields. Older engines lack `info` itself.
  const info: Partial<GPUAdapterInfo> = adapter.info ?? {};
  let flags = 0;
  if (device.features.has("shader-f16")) flags |= Capability.shaderF16;
  if (device.features.has("subgroups")) flags |= Capability.subgroups;
  if (device.features.has("timestamp-query")) flags |= Capability.timestamps;
  if (info.isFallbackAdapter) flags |= Capability.fallbackAdapter;
  if (takesSharedViews(device)) flags |= Capability.sharedUploads;
  return {
    ...limits,
    backend: Backend.webgpu,
    flags,
    minSubgroup: info.subgroupMinSize ?? 0,
    maxSubgroup: info.subgroupMaxSize ?? 0,
    device: [info.vendor, info.architecture, info.device, info.description]
      .map((text) => text ?? "")
      .join("\n"),
  };
}

/** Returns whether `writeBuffer` accepts shared memory. An engine that does not throws a TypeError. */
function takesSharedViews(device: GPUDevice): boolean {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const buffer = device.createBuffer({ label: "probe", size: 4, usage: COPY_DST });
  try {
    device.queue.writeBuffer(buffer, 0, new Uint8Array(memory.buffer, 0, 4));
    return true;
  } catch {
    return false;
  } finally {
    buffer.destroy();
  }
}

const COPY_DST = 0x8;
