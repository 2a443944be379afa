// Programs of WebGL2 whose fragments are texels of a storage, and what all of them share: the triangle that covers the
// texture, and the framebuffer. Runs on its executor's thread.

import { CommandError } from "../ring/executor.ts";
import { ErrorCode } from "../ring/layout.ts";
import { pieces, type Storage } from "./storages.ts";

/** One triangle that covers the whole texture. */
const VERTEX_TEXT = `#version 300 es
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

export class Programs {
  readonly gl: WebGL2RenderingContext;
  readonly #vertices: WebGLShader;
  readonly #drawing: WebGLFramebuffer;
  readonly #noArrays: WebGLVertexArrayObject;

  constructor(gl: WebGL2RenderingContext) {
    this.gl = gl;
    this.#vertices = this.#shader(gl.VERTEX_SHADER, VERTEX_TEXT, "the triangle");
    this.#drawing = gl.createFramebuffer();
    this.#noArrays = gl.createVertexArray();
    gl.disable(gl.DITHER);
  }

  /** Compiles a program whose texture i is called samplers[i]. Throws a CommandError with the compiler's message. */
  link(text: string, label: string, samplers: readonly string[]): WebGLProgram {
    const { gl } = this;
    const fragments = this.#shader(gl.FRAGMENT_SHADER, text, label);
    const program = gl.createProgram();
    gl.attachShader(program, this.#vertices);
    gl.attachShader(program, fragments);
    gl.linkProgram(program);
    gl.deleteShader(fragments);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      const message = gl.getProgramInfoLog(program);
      gl.deleteProgram(program);
      throw new CommandError(ErrorCode.shader, `'${label}': ${message}`);
    }
    gl.useProgram(program);
    for (const [unit, name] of samplers.entries())
      gl.uniform1i(gl.getUniformLocation(program, name), unit);
    return program;
  }

  /** Binds the textures that the next draw reads. None of them may be the one that it writes. */
  bindTextures(textures: readonly (WebGLTexture | null)[]): void {
    const { gl } = this;
    for (const [unit, texture] of textures.entries()) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
    }
  }

  /** Makes the storage the target of draws and clears. */
  drawInto(storage: Storage): void {
    const { gl } = this;
    gl.bindVertexArray(this.#noArrays);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, this.#drawing);
    gl.framebufferTexture2D(
      gl.DRAW_FRAMEBUFFER,
      gl.COLOR_ATTACHMENT0,
      gl.TEXTURE_2D,
      storage.texture,
      0,
    );
    gl.viewport(0, 0, storage.width, storage.height);
  }

  /** Runs the program in use for texels [first, first + texels) of the storage, and for no other. */
  drawTexels(storage: Storage, first: number, texels: number): void {
    const { gl } = this;
    this.drawInto(storage);
    gl.enable(gl.SCISSOR_TEST);
    pieces(first, texels, storage.width, (x, y, width, height) => {
      gl.scissor(x, y, width, height);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    });
    gl.disable(gl.SCISSOR_TEST);
  }

  #shader(kind: number, text: string, label: string): WebGLShader {
    const { gl } = this;
    const shader = gl.createShader(kind);
    if (shader === null) throw new CommandError(ErrorCode.deviceLost, "The context is lost.");
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
      const message = gl.getShaderInfoLog(shader);
      gl.deleteShader(shader);
      throw new CommandError(ErrorCode.shader, `'${label}': ${message}`);
    }
    return shader;
  }
}
