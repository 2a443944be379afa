// Starts Chromium for the command line, tests and benchmarks. The environment variable CHROMIUM may name another program
// than Debian's. CHROMIUM_FLAGS may add flags, because a graphics card without a display needs some. Node, any thread.

import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type LaunchOptions } from "playwright-core";
import { hasGraphicsCard } from "../src/gpu/webgpu/graphics_card.ts";
import { LIMIT_MS } from "./patience.ts";

export const CHROMIUM_FLAGS: readonly string[] = [
  "--no-sandbox",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--disable-dev-shm-usage",
  // On a busy machine the browser would report pressure, and trials would rest (the governor's cooling).
  "--disable-blink-features=ComputePressure",
  // Pages can reach 127.0.0.1 only: every other host name fails.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/** WebGPU must be enabled by a flag. Without a graphics card, Chromium's software adapter must also be named. */
const GPU_FLAGS = ["--enable-unsafe-webgpu"];
const SOFTWARE_GPU_FLAGS = ["--use-webgpu-adapter=swiftshader"];
/** Without a graphics card, WebGL2 runs on SwiftShader too, which Chromium must be allowed to use. */
const SOFTWARE_GL_FLAGS = ["--enable-unsafe-swiftshader", "--use-angle=swiftshader"];

export function chromiumPath(): string {
  const path = process.env.CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(path)) throw new Error(`No Chromium at ${path}: install it or set CHROMIUM.`);
  return path;
}

/** Starts a headless Chromium that reaches only this machine. */
export async function launchChromium(
  options: LaunchOptions & { webgpu?: boolean; webgl2?: boolean } = {},
): Promise<Browser> {
  const { webgpu = false, webgl2 = false, ...rest } = options;
  const more = (process.env.CHROMIUM_FLAGS ?? "").split(" ").filter((flag) => flag !== "");
  const gpu = webgpu ? [...GPU_FLAGS, ...(hasGraphicsCard() ? [] : SOFTWARE_GPU_FLAGS)] : [];
  const gl = webgl2 && !hasGraphicsCard() ? SOFTWARE_GL_FLAGS : [];
  const browser = await chromium.launch({
    timeout: LIMIT_MS,
    executablePath: chromiumPath(),
    // Playwright's smaller program, the headless shell, has no WebGPU.
    ...(webgpu || webgl2 ? { channel: "chromium" } : {}),
    args: [...CHROMIUM_FLAGS, ...gpu, ...gl, ...more],
    ...rest,
  });
  // Playwright's default limit is 30 s, but on a busy machine a page may need longer.
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (contextOptions) => {
    const context = await newContext(contextOptions);
    context.setDefaultTimeout(LIMIT_MS);
    return context;
  };
  return browser;
}

/** Starts a headless Chromium on a profile in `folder`, which remains when the browser is closed. */
export async function openProfile(folder: string): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(folder, {
    timeout: LIMIT_MS,
    executablePath: chromiumPath(),
    args: [...CHROMIUM_FLAGS],
    locale: "en-US",
  });
  context.setDefaultTimeout(LIMIT_MS);
  return context;
}
