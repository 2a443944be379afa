// Kernels of WebGL2: each is a list of passes, which are fragment shaders that render into the texture of a storage. All
// passes of a dispatch read the storages as they were before it. So a storage that is read and written gets a second
// texture, in which the dispatch leaves its result. Runs on its executor's thread.

import { CommandError } from "../ring/executor.ts";
import { ErrorCode } from "../ring/layout.ts";
import { ROW_TEXELS, type Storage, type Storages } from "./storages.ts";

/** One triangle that covers the whole texture. */
const VERTEX_TEXT = `#version 300 es
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

/** What array-core writes in front of each pass (array-core/src/codegen/glsl/glsl.h). */
const PASS_LINE = /^\/\/pass target (\d+) range (\d+) reads((?: \d+)*)$/;

export interface PassSpec {
  readonly text: string;
  /** The slot that the pass writes. */
  readonly target: number;
  /** The uniform word with the first texel that the pass writes. The next word has the number of texels. */
  readonly range: number;
  /** The slots that the pass reads, as the textures b0, b1, ... */
  readonly reads: readonly number[];
}

/** Returns the passes of a kernel's text. Throws a CommandError if it has none. */
export function passesOf(text: string): PassSpec[] {
  const passes: PassSpec[] = [];
  for (const part of text.split(/^(?=\/\/pass )/m)) {
    const end = part.indexOf("\n");
    const line = PASS_LINE.exec(part.slice(0, end));
    if (line === null) throw new CommandError(ErrorCode.shader, "the text does not begin a pass");
    const [, target, range, reads = ""] = line;
    passes.push({
      text: part.slice(end + 1),
      target: Number(target),
      range: Number(range),
      reads: reads.split(" ").filter(Boolean).map(Number),
    });
  }
  return passes;
}

interface Pass extends PassSpec {
  readonly program: WebGLProgram;
  readonly words: WebGLUniformLocation | null;
}

export interface Kernel {
  readonly label: string;
  readonly passes: readonly Pass[];
}

export class Kernels {
  readonly #gl: WebGL2RenderingContext;
  readonly #storages: Storages;
  readonly #vertices: WebGLShader;
  readonly #drawing: WebGLFramebuffer;
  readonly #noArrays: WebGLVertexArrayObject;

  constructor(gl: WebGL2RenderingContext, storages: Storages) {
    this.#gl = gl;
    this.#storages = storages;
    this.#vertices = this.#shader(gl.VERTEX_SHADER, VERTEX_TEXT, "the triangle");
    this.#drawing = gl.createFramebuffer();
    this.#noArrays = gl.createVertexArray();
    gl.disable(gl.DITHER);
  }

  /** Compiles a kernel. Throws a CommandError with the compiler's message. */
  create(text: string, label: string): Kernel {
    return { label, passes: passesOf(text).map((spec) => this.#pass(spec, label)) };
  }

  destroy(kernel: Kernel): void {
    for (const { program } of kernel.passes) this.#gl.deleteProgram(program);
  }

  /** Runs all passes. `storages` has the storage of each slot, `words` the uniform words. */
  dispatch(kernel: Kernel, storages: readonly Storage[], words: Uint32Array): void {
    const gl = this.#gl;
    gl.bindVertexArray(this.#noArrays);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, this.#drawing);
    gl.enable(gl.SCISSOR_TEST);
    const before = storages.map(({ texture }) => texture);
    const replaced: WebGLTexture[] = [];
    for (const pass of kernel.passes) {
      const storage = storages[pass.target];
      const first = words[pass.range] ?? 0;
      const texels = words[pass.range + 1] ?? 0;
      if (storage === undefined) throw new CommandError(ErrorCode.badBinding, "a slot is missing");
      if (texels === 0) continue;
      if (first + texels > storage.width * storage.height)
        throw new CommandError(
          ErrorCode.badRange,
          `texels ${first} to ${first + texels} of '${storage.label}'`,
        );
      if (kernel.passes.some(({ reads }) => reads.includes(pass.target))) {
        const all = first === 0 && texels === storage.width * storage.height;
        replaced.push(this.#storages.double(storage, !all));
      }
      this.#draw(pass, before, storage, words, first, texels);
    }
    for (const texture of replaced) gl.deleteTexture(texture);
    gl.disable(gl.SCISSOR_TEST);
  }

  #draw(
    pass: Pass,
    textures: readonly WebGLTexture[],
    target: Storage,
    words: Uint32Array,
    first: number,
    texels: number,
  ): void {
    const gl = this.#gl;
    gl.useProgram(pass.program);
    for (const [unit, slot] of pass.reads.entries()) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, textures[slot] ?? null);
    }
    gl.uniform4uiv(pass.words, words);
    gl.framebufferTexture2D(
      gl.DRAW_FRAMEBUFFER,
      gl.COLOR_ATTACHMENT0,
      gl.TEXTURE_2D,
      target.texture,
      0,
    );
    const row = Math.floor(first / ROW_TEXELS);
    const rows = Math.ceil((first + texels) / ROW_TEXELS) - row;
    gl.viewport(0, 0, target.width, target.height);
    gl.scissor(0, row, target.width, rows);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  #pass(spec: PassSpec, label: string): Pass {
    const gl = this.#gl;
    const fragments = this.#shader(gl.FRAGMENT_SHADER, spec.text, label);
    const program = gl.createProgram();
    gl.attachShader(program, this.#vertices);
    gl.attachShader(program, fragments);
    gl.linkProgram(program);
    gl.deleteShader(fragments);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
      throw new CommandError(ErrorCode.shader, `'${label}': ${gl.getProgramInfoLog(program)}`);
    gl.useProgram(program);
    for (const [unit, slot] of spec.reads.entries())
      gl.uniform1i(gl.getUniformLocation(program, `b${slot}`), unit);
    return { ...spec, program, words: gl.getUniformLocation(program, "u.w") };
  }

  #shader(kind: number, text: string, label: string): WebGLShader {
    const gl = this.#gl;
    const shader = gl.createShader(kind);
    if (shader === null) throw new CommandError(ErrorCode.deviceLost, "The context is lost.");
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
      throw new CommandError(ErrorCode.shader, `'${label}': ${gl.getShaderInfoLog(shader)}`);
    return shader;
  }
}
