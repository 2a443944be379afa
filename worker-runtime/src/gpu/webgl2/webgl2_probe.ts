// Finds out whether this browser has WebGL2. This is a script of its own, which the agent fetches only where WebGPU is
// missing. The executor's self-test comes later, when a trial opens the device. Agent thread.

import { mostBytes } from "./storages.ts";

export interface WebGl2Facts {
  /** The vendor, as the browser names it; never the model. */
  readonly vendor: string;
  readonly isSoftware: boolean;
  readonly maxBufferBytes: number;
}

/** Matches the names of devices that are programs on the CPU. */
export const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Returns the facts; undefined without WebGL2. */
export function probeWebGl2(): WebGl2Facts | undefined {
  if (typeof OffscreenCanvas !== "function") return undefined;
  const gl = new OffscreenCanvas(1, 1).getContext("webgl2");
  if (gl === null || gl.isContextLost()) return undefined;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const text = (name: number) => String(gl.getParameter(name) ?? "");
  // ANGLE names itself and the vendor: "Google Inc. (NVIDIA)".
  const vendor = text(info?.UNMASKED_VENDOR_WEBGL ?? gl.VENDOR);
  const facts = {
    vendor: /\((.*)\)/.exec(vendor)?.[1] ?? vendor,
    isSoftware: SOFTWARE.test(text(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER)),
    maxBufferBytes: mostBytes(gl.getParameter(gl.MAX_TEXTURE_SIZE) as number),
  };
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return facts;
}
