// WebGPU in Node: Dawn from npm's `webgpu` module. Node's gpu thread, tests, and programs that run the drain on the
// python thread use it.

import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { hasGraphicsCard } from "../webgpu/graphics_card.ts";
import type { FromGpuThread } from "./gpu_messages.ts";

interface DawnModule {
  create(options: string[]): GPU;
  readonly globals: Record<string, unknown>;
}

declare global {
  var hyperflockDawn: GPU | undefined;
}

/** Switches off Dawn's rounding of the clock to about 65 us. The rounding is for web pages, and Node runs none. */
const EXACT_CLOCK = "disable-dawn-features=timestamp_quantization";

/** Chromium's software Vulkan, for machines without a graphics card. */
const SOFTWARE_VULKAN = "/usr/lib/chromium/vk_swiftshader_icd.json";

/**
 * Lets Dawn find a Vulkan driver: the machine's own, or else the software one. Call it on the main thread before any gpu
 * thread starts, because native code does not see a worker's copy of the environment.
 */
export function prepareVulkan(): void {
  const { env } = process;
  env.XDG_RUNTIME_DIR ??= tmpdir();
  if (env.VK_ICD_FILENAMES !== undefined || hasGraphicsCard()) return;
  if (existsSync(SOFTWARE_VULKAN)) env.VK_ICD_FILENAMES = SOFTWARE_VULKAN;
}

/** Opens Dawn. `modulePath` is a file or the name of an installed package. */
export async function openDawn(modulePath: string): Promise<GPU> {
  const isPath = modulePath.startsWith("/");
  const dawn: DawnModule = await import(isPath ? pathToFileURL(modulePath).href : modulePath);
  // The object of create() is kept, because the process hangs if it is garbage-collected.
  globalThis.hyperflockDawn ??= dawn.create([EXACT_CLOCK]);
  return globalThis.hyperflockDawn;
}

/** Opens Dawn, whose path is `workerData`, and serves the messages of the parent thread. */
export async function serveParent<Message>(
  serve: (gpu: GPU, post: (message: FromGpuThread) => void) => { receive(message: Message): void },
): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error("This file runs as a worker thread.");
  const waiting: Message[] = [];
  let service: { receive(message: Message): void } | undefined;
  port.on("message", (message: Message) => {
    if (service === undefined) waiting.push(message);
    else service.receive(message);
  });
  service = serve(await openDawn(String(workerData)), (message) => port.postMessage(message));
  for (const message of waiting.splice(0)) service.receive(message);
}
