// Kernels of WebGL2: each is a list of passes, which are fragment shaders that render into the texture of a storage. All
// passes of a dispatch read the storages as they were before it. So a storage that is read and written gets a second
// texture, in which the dispatch leaves its result. Runs on its executor's thread.

import { CommandError } from "../ring/executor.ts";
import { ErrorCode } from "../ring/layout.ts";
import type { Programs } from "./programs.ts";
import type { Storage, Storages } from "./storages.ts";
import { glslOf } from "./translate.ts";

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

/** Returns the passes of a kernel's text. Throws a CommandError if it has none. `label` is for the message. */
export function passesOf(text: string, label: string): PassSpec[] {
  const passes: PassSpec[] = [];
  for (const part of text.split(/^(?=\/\/pass )/m)) {
    const end = part.indexOf("\n");
    const line = PASS_LINE.exec(part.slice(0, end));
    if (line === null)
      throw new CommandError(ErrorCode.shader, `'${label}': the line of a pass is expected`);
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
  /** Whether some pass of the kernel reads the slot that this one writes. */
  readonly isRead: boolean;
}

export interface Kernel {
  readonly label: string;
  readonly passes: readonly Pass[];
}

export class Kernels {
  readonly #programs: Programs;
  readonly #storages: Storages;

  constructor(programs: Programs, storages: Storages) {
    this.#programs = programs;
    this.#storages = storages;
  }

  /** Compiles a kernel. Throws a CommandError with the compiler's message. */
  create(text: string, label: string): Kernel {
    const specs = passesOf(text, label);
    const passes = specs.map((spec): Pass => {
      const samplers = spec.reads.map((slot) => `b${slot}`);
      const program = this.#programs.link(glslOf(spec.text), label, samplers);
      const words = this.#programs.gl.getUniformLocation(program, "u.w");
      const isRead = specs.some(({ reads }) => reads.includes(spec.target));
      return { ...spec, program, words, isRead };
    });
    return { label, passes };
  }

  destroy(kernel: Kernel): void {
    for (const { program } of kernel.passes) this.#programs.gl.deleteProgram(program);
  }

  /** Runs all passes. `storages` has the storage of each slot, `words` the uniform words. */
  dispatch(kernel: Kernel, storages: readonly Storage[], words: Uint32Array): void {
    // All passes are checked first, so that a dispatch which fails has no effect.
    const targets = kernel.passes.map((pass) => targetOf(pass, storages, words));
    const before = storages.map(({ texture }) => texture);
    const replaced: [Storage, WebGLTexture][] = [];
    for (const [i, pass] of kernel.passes.entries()) {
      const target = targets[i];
      if (target === undefined) continue;
      const { storage, first, texels } = target;
      if (pass.isRead) {
        const all = first === 0 && texels === storage.width * storage.height;
        replaced.push([storage, this.#storages.double(storage, !all)]);
      }
      const { gl } = this.#programs;
      gl.useProgram(pass.program);
      this.#programs.bindTextures(pass.reads.map((slot) => before[slot] ?? null));
      gl.uniform4uiv(pass.words, words);
      this.#programs.drawTexels(storage, first, texels);
    }
    for (const [storage, texture] of replaced) this.#storages.keepSpare(storage, texture);
  }
}

interface PassTarget {
  readonly storage: Storage;
  readonly first: number;
  readonly texels: number;
}

/** Returns what a pass writes; undefined if it writes nothing. */
function targetOf(
  pass: PassSpec,
  storages: readonly Storage[],
  words: Uint32Array,
): PassTarget | undefined {
  const storage = storages[pass.target];
  if (storage === undefined || pass.reads.some((slot) => storages[slot] === undefined))
    throw new CommandError(ErrorCode.badBinding, "a slot is missing");
  const first = words[pass.range] ?? 0;
  const texels = words[pass.range + 1] ?? 0;
  if (first + texels > storage.width * storage.height)
    throw new CommandError(
      ErrorCode.badRange,
      `texels ${first} to ${first + texels} of '${storage.label}'`,
    );
  return texels === 0 ? undefined : { storage, first, texels };
}
