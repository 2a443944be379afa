// Tests which devices a trial is offered in a browser, and what is reported about its graphics adapter.

import { describe, expect, test } from "vitest";
import type { Capabilities, GpuFacts } from "../../protocol/index.ts";
import { deviceOffer, gpuBudgetOf, lentGpu } from "./device_offer.ts";
import { factsOf, probeGpu, probeGraphics, webGl2FactsOf } from "./gpu_probe.ts";

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
      reasons: { webgl2: "has_webgpu" },
      software: false,
      budget_bytes: 512 * MIB,
    });
  });

  test("WebGL2 and the CPU where there is no WebGPU.", () => {
    const capabilities: Capabilities = { ...phone, backends: ["webgl2", "cpu"], gpu: GPU };
    expect(deviceOffer("auto", capabilities, shared)).toMatchObject({
      backends: ["webgl2", "cpu"],
      reasons: { webgpu: "no_adapter" },
      budget_bytes: 512 * MIB,
    });
    expect(deviceOffer("auto", capabilities, { sharesMemory: false }).backends).toEqual(["cpu"]);
  });

  test.each([
    [{ webgpu: "no_adapter", webgl2: "no_context" }, phone, shared],
    [{ webgpu: "not_isolated", webgl2: "not_isolated" }, phone, { sharesMemory: false }],
  ] as const)("The CPU alone, because of %o.", (reasons, capabilities, surroundings) => {
    expect(deviceOffer("webgpu", capabilities, surroundings)).toMatchObject({
      backends: ["cpu"],
      reasons,
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
      const graphics = { backend: "webgpu", facts: { ...GPU, buffer_mb: most } } as const;
      expect(lentGpu(graphics, device, careful)).toEqual({
        backend: "webgpu",
        facts: { ...GPU, buffer_mb: told },
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

describe("WebGL2", () => {
  test("Its vendor alone is told, and sizes as powers of two.", () => {
    const facts = { vendor: "Qualcomm", isSoftware: false, maxBufferBytes: 500 * MIB };
    const told = { adapter: "qualcomm", software: false, f16: false, buffer_mb: 256 };
    expect(webGl2FactsOf(facts)).toEqual(told);
    expect(webGl2FactsOf({ ...facts, vendor: "" }).adapter).toBe("unknown");
  });

  test("A browser with neither it nor WebGPU has no graphics device.", async () => {
    // Node has no OffscreenCanvas.
    expect(await probeGraphics(undefined, () => new Promise(() => {}))).toBeUndefined();
  });

  test("It is not looked for where there is WebGPU.", async () => {
    const gpu = { requestAdapter: async () => adapter({ vendor: "nvidia" }) } as unknown as GPU;
    const found = await probeGraphics(gpu, () => new Promise(() => {}));
    expect(found?.backend).toBe("webgpu");
  });
});
