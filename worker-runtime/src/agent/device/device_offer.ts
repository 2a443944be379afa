// Decides what a trial that asks for a device gets: the back ends of array-core that can run, the reasons why others
// cannot run, and how much memory of the graphics device the trial may use. Pure; agent thread.

import type { Backend, Capabilities } from "../../protocol/index.ts";
import type { DeviceOffer } from "../../python/messages.ts";
import type { Graphics } from "./gpu_probe.ts";

const MIB = 1_048_576;
/** The limit in MiB for all GPU arrays together, by class of device. A browser ends a tab that uses more, without an error. */
const BUDGET_MOST = { phone: 512, tablet: 1_024, desktop: 4_096, node: 4_096 } as const;
/** The budget in MiB of a device that does not report its memory. */
const BUDGET_UNKNOWN = { phone: 256, tablet: 512, desktop: 2_048, node: 2_048 } as const;

/** The properties of this browser on which the offer depends. The gpu thread needs shared memory. */
export interface Surroundings {
  readonly sharesMemory: boolean;
}

/**
 * Returns the budget in bytes: half of the device's memory, at most the limit of its class. The budget is halved if the
 * browser ended the last visit.
 */
export function gpuBudgetOf(
  device: Pick<Capabilities, "class" | "memory_mb">,
  careful = false,
): number {
  const half = Math.floor(device.memory_mb / 2);
  const mb =
    device.memory_mb > 0 ? Math.min(BUDGET_MOST[device.class], half) : BUDGET_UNKNOWN[device.class];
  return Math.floor((careful ? mb / 2 : mb) * MIB);
}

/** Returns the description of the graphics device that the server gets. The budget also limits the largest array. */
export function lentGpu(
  graphics: Graphics | undefined,
  device: Pick<Capabilities, "class" | "memory_mb">,
  careful = false,
): Graphics | undefined {
  if (graphics === undefined) return undefined;
  const lentMb = Math.floor(gpuBudgetOf(device, careful) / MIB);
  const { backend, facts } = graphics;
  return { backend, facts: { ...facts, buffer_mb: Math.min(facts.buffer_mb, lentMb) } };
}

export function deviceOffer(
  wanted: Backend,
  capabilities: Capabilities,
  { sharesMemory }: Surroundings,
  careful = false,
): DeviceOffer {
  const found = capabilities.gpu !== undefined && sharesMemory;
  const graphics = capabilities.backends.includes("webgl2") ? "webgl2" : "webgpu";
  const missing = (reason: string) => (sharesMemory ? reason : "not_isolated");
  const reasons: Record<string, string> = { webgpu: missing("no_adapter") };
  reasons.webgl2 = missing("no_context");
  if (found) delete reasons[graphics];
  // WebGL2 is not examined where there is WebGPU.
  if (found && graphics === "webgpu") reasons.webgl2 = "has_webgpu";
  return {
    wanted,
    backends: found ? [graphics, "cpu"] : ["cpu"],
    reasons,
    software: capabilities.gpu?.software ?? false,
    budget_bytes: gpuBudgetOf(capabilities, careful),
  };
}
