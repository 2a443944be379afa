// Chromium as the command line, the demo, tests and benchmarks start it: where it is, and with which flags. CHROMIUM may
// name another than Debian's, CHROMIUM_FLAGS more flags: a graphics card without a display needs some. Node, any thread.

import { existsSync } from "node:fs";
import { type Browser, chromium, type LaunchOptions } from "playwright-core";
import { hasGraphicsCard } from "../src/gpu/webgpu/graphics_card.ts";
import { LIMIT_MS } from "./patience.ts";

export const CHROMIUM_FLAGS: readonly string[] = [
  "--no-sandbox",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--disable-dev-shm-usage",
  // Whatever a page might ask of another host cannot even be looked up.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/** WebGPU has to be asked for; without a graphics card it is Chromium's software one, which has to be named. */
const GPU_FLAGS = ["--enable-unsafe-webgpu"];
const SOFTWARE_GPU_FLAGS = ["--use-webgpu-adapter=swiftshader"];

export function chromiumPath(): string {
  const path = process.env.CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(path)) throw new Error(`No Chromium at ${path}: install it or set CHROMIUM.`);
  return path;
}

/** A headless Chromium that reaches nothing but this machine. */
export async function launchChromium(
  options: LaunchOptions & { webgpu?: boolean } = {},
): Promise<Browser> {
  const { webgpu = false, ...rest } = options;
  const more = (process.env.CHROMIUM_FLAGS ?? "").split(" ").filter((flag) => flag !== "");
  const gpu = webgpu ? [...GPU_FLAGS, ...(hasGraphicsCard() ? [] : SOFTWARE_GPU_FLAGS)] : [];
  const browser = await chromium.launch({
    timeout: LIMIT_MS,
    executablePath: chromiumPath(),
    // The headless shell has no WebGPU.
    ...(webgpu ? { channel: "chromium" } : {}),
    args: [...CHROMIUM_FLAGS, ...gpu, ...more],
    ...rest,
  });
  // Playwright itself gives up after 30 s, which a busy machine may take for a page.
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (contextOptions) => {
    const context = await newContext(contextOptions);
    context.setDefaultTimeout(LIMIT_MS);
    return context;
  };
  return browser;
}
