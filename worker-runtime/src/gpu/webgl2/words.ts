// Copies, fills and patches of words in storages of WebGL2. A texel has four words, and drawing writes whole texels. So
// a texel of which only some words are written is drawn by itself, from a copy of what it was. Runs on its executor's
// thread.

import type { Programs } from "./programs.ts";
import { pieces, ROW_TEXELS, type Storage, type Storages } from "./storages.ts";

const HEADER = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
layout(location = 0) out uvec4 result;
`;

/** Writes the words of `value` whose bit in `mask` is set, and keeps the others. */
const PATCH_TEXT = `${HEADER}
uniform usampler2D kept;
uniform uvec4 value;
uniform uint mask;
void main() {
  uvec4 old = texelFetch(kept, ivec2(0), 0);
  result = uvec4((mask & 1u) != 0u ? value.x : old.x, (mask & 2u) != 0u ? value.y : old.y,
                 (mask & 4u) != 0u ? value.z : old.z, (mask & 8u) != 0u ? value.w : old.w);
}`;

/** Writes words from span.x to span.y (without it), each from the word \`delta\` further on in the source. */
const COPY_TEXT = `${HEADER}
uniform usampler2D source;
uniform usampler2D kept;
uniform ivec2 span;
uniform int delta;
uint word(int to, uint old) {
  if (to < span.x || to >= span.y) { return old; }
  int from = to + delta;
  uvec4 texel = texelFetch(source, ivec2((from >> 2) & ${ROW_TEXELS - 1}, from >> 13), 0);
  return texel[from & 3];
}
void main() {
  uvec4 old = texelFetch(kept, ivec2(0), 0);
  int to = (int(gl_FragCoord.y) * ${ROW_TEXELS} + int(gl_FragCoord.x)) * 4;
  result = uvec4(word(to, old.x), word(to + 1, old.y), word(to + 2, old.z), word(to + 3, old.w));
}`;

interface Patch {
  readonly program: WebGLProgram;
  readonly value: WebGLUniformLocation | null;
  readonly mask: WebGLUniformLocation | null;
}

interface Copy {
  readonly program: WebGLProgram;
  readonly span: WebGLUniformLocation | null;
  readonly delta: WebGLUniformLocation | null;
}

export class Words {
  readonly #gl: WebGL2RenderingContext;
  readonly #storages: Storages;
  readonly #programs: Programs;
  /** One texel: what a texel was before some of its words are written. */
  #kept: Storage | undefined;
  #patch: Patch | undefined;
  #copy: Copy | undefined;

  constructor(gl: WebGL2RenderingContext, storages: Storages, programs: Programs) {
    this.#gl = gl;
    this.#storages = storages;
    this.#programs = programs;
  }

  /** Writes `data` from word `first` on. REQUIRES: the words are in the storage. */
  upload(storage: Storage, first: number, data: Uint32Array): void {
    const end = first + data.length;
    const [whole, wholeEnd] = wholeTexels(first, end);
    if (whole < wholeEnd)
      this.#storages.write(storage, whole / 4, data.subarray(whole - first, wholeEnd - first));
    this.#eachEdge(first, end, (texel, from, to) => {
      const value = new Uint32Array(4);
      value.set(data.subarray(from - first, to - first), from - texel * 4);
      this.#patchTexel(storage, texel, from, to, value);
    });
  }

  /** Sets `count` words from word `first` on to `value`. REQUIRES: the words are in the storage. */
  fill(storage: Storage, first: number, count: number, value: number): void {
    const gl = this.#gl;
    const end = first + count;
    const [whole, wholeEnd] = wholeTexels(first, end);
    const words = new Uint32Array(4).fill(value);
    if (whole < wholeEnd) {
      this.#programs.drawInto(storage);
      gl.enable(gl.SCISSOR_TEST);
      pieces(whole / 4, (wholeEnd - whole) / 4, storage.width, (x, y, width, height) => {
        gl.scissor(x, y, width, height);
        gl.clearBufferuiv(gl.COLOR, 0, words);
      });
      gl.disable(gl.SCISSOR_TEST);
    }
    this.#eachEdge(first, end, (texel, from, to) =>
      this.#patchTexel(storage, texel, from, to, words),
    );
  }

  /** Copies `count` words. REQUIRES: two storages, which have the words. */
  copy(source: Storage, from: number, target: Storage, to: number, count: number): void {
    const [whole, wholeEnd] = wholeTexels(to, to + count);
    const copy = this.#copyProgram();
    const draw = (first: number, texels: number) => {
      const { gl } = this.#programs;
      gl.useProgram(copy.program);
      gl.uniform2i(copy.span, to, to + count);
      gl.uniform1i(copy.delta, from - to);
      this.#programs.bindTextures([source.texture, this.#keptTexel().texture]);
      this.#programs.drawTexels(target, first, texels);
    };
    if (whole < wholeEnd) draw(whole / 4, (wholeEnd - whole) / 4);
    this.#eachEdge(to, to + count, (texel) => {
      this.#keep(target, texel);
      draw(texel, 1);
    });
  }

  #patchTexel(storage: Storage, texel: number, from: number, to: number, value: Uint32Array): void {
    const gl = this.#gl;
    this.#keep(storage, texel);
    const patch = this.#patchProgram();
    let mask = 0;
    for (let word = from; word < to; word += 1) mask |= 1 << (word - texel * 4);
    gl.useProgram(patch.program);
    gl.uniform4uiv(patch.value, value);
    gl.uniform1ui(patch.mask, mask);
    this.#programs.bindTextures([this.#keptTexel().texture]);
    this.#programs.drawTexels(storage, texel, 1);
  }

  /** Copies one texel to `kept`. */
  #keep(storage: Storage, texel: number): void {
    const gl = this.#gl;
    const kept = this.#keptTexel();
    this.#storages.attachForReading(storage);
    gl.bindTexture(gl.TEXTURE_2D, kept.texture);
    const [x, y] = [texel % ROW_TEXELS, Math.floor(texel / ROW_TEXELS)];
    gl.copyTexSubImage2D(gl.TEXTURE_2D, 0, 0, 0, x, y, 1, 1);
  }

  #keptTexel(): Storage {
    this.#kept ??= this.#storages.create(16, "kept");
    return this.#kept;
  }

  // Calls `each` for the texels of which only the words [from, to) are written.
  #eachEdge(
    first: number,
    end: number,
    each: (texel: number, from: number, to: number) => void,
  ): void {
    const [whole, wholeEnd] = wholeTexels(first, end);
    const head = Math.floor(first / 4);
    if (first < Math.min(whole, end)) each(head, first, Math.min(whole, end));
    if (wholeEnd < end && wholeEnd >= whole) each(wholeEnd / 4, wholeEnd, end);
  }

  #patchProgram(): Patch {
    if (this.#patch === undefined) {
      const program = this.#programs.link(PATCH_TEXT, "patch", ["kept"]);
      const at = (name: string) => this.#gl.getUniformLocation(program, name);
      this.#patch = { program, value: at("value"), mask: at("mask") };
    }
    return this.#patch;
  }

  #copyProgram(): Copy {
    if (this.#copy === undefined) {
      const program = this.#programs.link(COPY_TEXT, "copy", ["source", "kept"]);
      const at = (name: string) => this.#gl.getUniformLocation(program, name);
      this.#copy = { program, span: at("span"), delta: at("delta") };
    }
    return this.#copy;
  }
}

/** Returns the words that fill whole texels of [first, end): where they begin and end. There are none if begin >= end. */
function wholeTexels(first: number, end: number): [begin: number, end: number] {
  return [Math.ceil(first / 4) * 4, Math.floor(end / 4) * 4];
}
