// Tests which devices a trial is offered in a browser, and what is reported about its graphics adapter.

import { describe, expect, test } from "vitest";
import type { Capabilities, GpuFacts } from "../../protocol/index.ts";
import { deviceOffer, gpuBudgetOf, lentGpu } from "./device_offer.ts";
import { factsOf, probeGpu } from "./gpu_probe.ts";

const MIB = 1_048_576;
const GPU: GpuFacts = { adapter: "vendor family", software: false, f16: true, buffer_mb: 1024 };
const phone: Capabilities = {
  backends: ["cpu"],
  memory_mb: 4_096,
  cores: 8,
  engine: "test 1",
  class: "phone",
};
const shared = { sharesMemory: true };

describe("deviceOffer", () => {
  test("WebGPU and the CPU where threads share memory.", () => {
    expect(deviceOffer("auto", { ...phone, gpu: GPU }, shared)).toEqual({
      wanted: "auto",
      backends: ["webgpu", "cpu"],
      reasons: {},
      software: false,
      budget_bytes: 512 * MIB,
    });
  });

  test.each([
    ["no_adapter", phone, shared],
    ["not_isolated", phone, { sharesMemory: false }],
  ] as const)("The CPU alone, because of %s.", (reason, capabilities, surroundings) => {
    expect(deviceOffer("webgpu", capabilities, surroundings)).toMatchObject({
      backends: ["cpu"],
      reasons: { webgpu: reason },
    });
  });

  test.each([
    ["phone", 0, 256],
    ["phone", 8_192, 512],
    ["tablet", 1_024, 512],
    ["desktop", 0, 2_048],
    ["desktop", 65_536, 4_096],
  ] as const)("A %s of %i MiB lends %i MiB, half of it after a bad end.", (kind, mb, budget) => {
    const device = { class: kind, memory_mb: mb };
    expect(gpuBudgetOf(device)).toBe(budget * MIB);
    expect(gpuBudgetOf(device, true)).toBe((budget / 2) * MIB);
  });
});

describe("lentGpu", () => {
  test.each([
    [1_024, 4_096, false, 512],
    [1_024, 4_096, true, 256],
    [128, 4_096, false, 128],
    [1_024, 0, false, 256],
  ])(
    "Of buffers of %i MiB a phone of %i MiB (careful: %s) tells %i.",
    (most, mb, careful, told) => {
      const device = { class: "phone", memory_mb: mb } as const;
      expect(lentGpu({ ...GPU, buffer_mb: most }, device, careful)).toEqual({
        ...GPU,
        buffer_mb: told,
      });
    },
  );

  test("What is not there is not told.", () => {
    expect(lentGpu(undefined, phone)).toBeUndefined();
  });
});

function adapter(info: object, bytes = 2 ** 31 - 4, features: string[] = []) {
  return {
    info,
    limits: { maxBufferSize: bytes, maxStorageBufferBindingSize: bytes },
    features: new Set(features),
  } as unknown as GPUAdapter;
}

describe("factsOf", () => {
  test("Vendor and family, never the model; sizes as powers of two.", () => {
    const info = {
      vendor: "nvidia",
      architecture: "hopper",
      device: "0x2330",
      description: "H200",
    };
    expect(factsOf(adapter(info, 2 ** 31 - 4, ["shader-f16"]))).toEqual({
      adapter: "nvidia hopper",
      software: false,
      f16: true,
      buffer_mb: 1_024,
    });
  });

  test.each([
    { isFallbackAdapter: true },
    { vendor: "google", architecture: "swiftshader" },
    { vendor: "mesa", description: "llvmpipe (LLVM 15)" },
  ])("A program on the CPU is named as such: %o", (info) => {
    expect(factsOf(adapter(info)).software).toBe(true);
  });

  test("An adapter that says nothing, and a long one.", () => {
    expect(factsOf(adapter({})).adapter).toBe("unknown");
    expect(factsOf(adapter({ vendor: "v".repeat(300) })).adapter).toHaveLength(64);
  });
});

describe("probeGpu", () => {
  const never = () => new Promise<void>(() => {});

  test("No WebGPU, no adapter, and one that does not answer are the same.", async () => {
    expect(await probeGpu(undefined, never)).toBeUndefined();
    const none = { requestAdapter: async () => null } as unknown as GPU;
    expect(await probeGpu(none, never)).toBeUndefined();
    const silent = { requestAdapter: never } as unknown as GPU;
    expect(await probeGpu(silent, async () => {})).toBeUndefined();
  });

  test("The adapter's facts.", async () => {
    const gpu = { requestAdapter: async () => adapter({ vendor: "v" }) } as unknown as GPU;
    expect(await probeGpu(gpu, never)).toMatchObject({ adapter: "v" });
  });
});
