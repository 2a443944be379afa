// Runs the cases of array-core/tests/glsl in a page of a browser: storages, passes and uniforms as an executor has
// them. Runs on the page's main thread.

import { Kernels } from "../webgl2/kernels.ts";
import { Programs } from "../webgl2/programs.ts";
import { type Storage, Storages } from "../webgl2/storages.ts";

export interface PageCase {
  /** The texts of the kernels that are dispatched one after the other. */
  readonly stages: readonly string[];
  readonly scratch: readonly { readonly slot: number; readonly bytes: number }[];
  readonly uniforms: readonly number[];
  /** The slots and the bytes before the dispatch, as base64. */
  readonly buffers: readonly { readonly slot: number; readonly before: string }[];
}

export interface PageResult {
  readonly problem: string;
  /** The bytes after the dispatch, as base64, in the order of the case's buffers. */
  readonly after: readonly string[];
}

const bytesOf = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const textOf = (bytes: Uint8Array) => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
};

const gl = new OffscreenCanvas(1, 1).getContext("webgl2");

function run(one: PageCase): PageResult {
  if (gl === null) return { problem: "there is no WebGL2", after: [] };
  const storages = new Storages(gl);
  const kernels = new Kernels(new Programs(gl), storages);
  try {
    const slots: Storage[] = [];
    for (const { slot, before } of one.buffers) {
      const bytes = bytesOf(before);
      const storage = storages.create(bytes.length, `slot ${slot}`);
      storages.write(storage, 0, new Uint32Array(bytes.buffer));
      slots[slot] = storage;
    }
    for (const { slot, bytes } of one.scratch) slots[slot] = storages.create(bytes, "scratch");
    for (const text of one.stages) {
      const kernel = kernels.create(text, "case");
      kernels.dispatch(kernel, slots, new Uint32Array(one.uniforms));
      kernels.destroy(kernel);
    }
    const after = one.buffers.map(({ slot }) => {
      const storage = slots[slot];
      if (storage === undefined) return "";
      const words = storages.readNow(storage, 0, storage.bytes / 16);
      return textOf(new Uint8Array(words.buffer));
    });
    for (const storage of slots) if (storage !== undefined) storages.destroy(storage); // a slot may be unused
    const error = gl.getError();
    return { problem: error === gl.NO_ERROR ? "" : `error 0x${error.toString(16)}`, after };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error), after: [] };
  }
}

function device(): string {
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  return gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
}

Object.assign(globalThis, { runCases: (cases: readonly PageCase[]) => cases.map(run), device });
