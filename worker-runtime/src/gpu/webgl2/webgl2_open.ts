// Opens a WebGL2 context for the ring and describes its capabilities. This file and what it imports are a script of its
// own, which is fetched only where WebGL2 is chosen. Runs on the gpu thread, or on the python thread if threads cannot
// share memory. Node has no WebGL2.

import {
  type Capabilities,
  CommandError,
  type DeviceEvents,
  type DeviceLimits,
} from "../ring/executor.ts";
import { Backend, Capability, ErrorCode, MAX_UNIFORM_WORDS } from "../ring/layout.ts";
import { selfTest } from "./self_test.ts";
import { mostBytes } from "./storages.ts";
import { WebGl2Executor } from "./webgl2_executor.ts";
import { SOFTWARE } from "./webgl2_probe.ts";

/** The pause before the second try: a tab in the background or a starting driver may give no context at first. */
const RETRY_MS = 500;
/** Every WebGL2 device reads this many textures in one draw. */
const LEAST_TEXTURES = 16;

export interface WebGl2Options {
  readonly events: DeviceEvents;
  /** Upper limits for the device's limits, so that it behaves like a smaller device. */
  readonly limits?: Partial<DeviceLimits>;
}

export async function openWebGl2({ events, limits = {} }: WebGl2Options): Promise<WebGl2Executor> {
  const { gl, canvas } = await context();
  const problem = selfTest(gl);
  if (problem !== "") {
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    throw new CommandError(ErrorCode.noDevice, `WebGL2 computes wrong results here: ${problem}.`);
  }
  return new WebGl2Executor(gl, canvas, describe(gl, limits), events);
}

interface Context {
  readonly gl: WebGL2RenderingContext;
  readonly canvas: OffscreenCanvas;
}

async function context(): Promise<Context> {
  if (typeof OffscreenCanvas !== "function")
    throw new CommandError(ErrorCode.noAdapter, "This browser has no WebGL2 here.");
  const first = newContext();
  if (first !== null) return first;
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  const second = newContext();
  if (second !== null) return second;
  throw new CommandError(ErrorCode.noAdapter, "WebGL2 offers no context on this device.");
}

// The context draws into textures only, so its canvas needs no memory.
function newContext(): Context | null {
  const canvas = new OffscreenCanvas(1, 1);
  const gl = canvas.getContext("webgl2", {
    alpha: false,
    antialias: false,
    depth: false,
    stencil: false,
    powerPreference: "high-performance",
  });
  return gl?.isContextLost() === false ? { gl, canvas } : null;
}

function describe(gl: WebGL2RenderingContext, bounds: Partial<DeviceLimits>): Capabilities {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const text = (name: number) => String(gl.getParameter(name) ?? "").replaceAll("\n", " ");
  const vendor = text(info?.UNMASKED_VENDOR_WEBGL ?? gl.VENDOR);
  const renderer = text(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER);
  let flags = 0;
  if (SOFTWARE.test(renderer)) flags |= Capability.fallbackAdapter;
  if (takesSharedViews(gl)) flags |= Capability.sharedUploads;
  const bytes = Math.min(
    mostBytes(gl.getParameter(gl.MAX_TEXTURE_SIZE) as number),
    bounds.maxBufferBytes ?? Number.POSITIVE_INFINITY,
    bounds.maxBindingBytes ?? Number.POSITIVE_INFINITY,
  );
  return {
    backend: Backend.webgl2,
    flags,
    maxBufferBytes: bytes,
    maxBindingBytes: bytes,
    maxStorageBuffers: Math.min(LEAST_TEXTURES, bounds.maxStorageBuffers ?? LEAST_TEXTURES),
    maxWorkgroupBytes: 0,
    maxInvocations: 1,
    maxWorkgroupX: 1,
    maxWorkgroupY: 1,
    maxWorkgroupZ: 1,
    maxGrid: 65535,
    maxUniformBytes: MAX_UNIFORM_WORDS * 4,
    minSubgroup: 0,
    maxSubgroup: 0,
    device: [vendor, "webgl2", "", renderer].join("\n"),
  };
}

/** Returns whether `texSubImage2D` accepts shared memory. An engine that does not throws a TypeError. */
function takesSharedViews(gl: WebGL2RenderingContext): boolean {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32UI, 1, 1);
  try {
    const words = new Uint32Array(memory.buffer, 0, 4);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 1, 1, gl.RGBA_INTEGER, gl.UNSIGNED_INT, words);
    return true;
  } catch {
    return false;
  } finally {
    gl.deleteTexture(texture);
  }
}
