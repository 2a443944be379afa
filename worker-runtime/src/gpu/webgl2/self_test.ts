// Tests what GLSL leaves open and array-core relies on: that bits pass through textures and registers, that integers
// have 32 bits, and that floats are rounded to 32 bits. A device that fails computes wrong results without an error.
// Runs on its executor's thread.

import { Programs } from "./programs.ts";
import { Storages } from "./storages.ts";

const TEXT = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
uniform usampler2D words;
layout(location = 0) out uvec4 result;
void main() {
  uvec4 bits = texelFetch(words, ivec2(0, 0), 0);
  uvec4 numbers = texelFetch(words, ivec2(1, 0), 0);
  uvec4 floats = texelFetch(words, ivec2(2, 0), 0);
  vec4 f = uintBitsToFloat(floats);
  switch (int(gl_FragCoord.x)) {
    case 0: result = bits; break;
    case 1: result = floatBitsToUint(f); break;
    case 2:
      result = uvec4(uint(int(numbers.x) / int(numbers.y)), numbers.z * numbers.w, numbers.z >> 7u,
                     uint(int(numbers.x) >> 1));
      break;
    case 3:
      result = uvec4(floatBitsToUint(f.x * f.x), floatBitsToUint(f.y + 1.0), uint(int(f.z)),
                     floatBitsToUint(float(int(numbers.w))));
      break;
  }
}`;

const BITS = [0x7fc0_0001, 0xff80_0000, 0x8000_0000, 0x0000_0001]; // NaN with a payload, -inf, -0, subnormal
const NUMBERS = [-7 >>> 0, 2, 0xffff_ffff, 16_777_217];
const FLOATS = [1.1, 16_777_215, -2.9, -0];

const bitsOf = (...values: number[]): number[] => [
  ...new Uint32Array(Float32Array.from(values).buffer),
];

const EXPECTED: readonly (readonly [what: string, words: readonly number[]])[] = [
  ["words in textures", BITS],
  ["the bits of floats", bitsOf(...FLOATS)],
  ["integers", [-3 >>> 0, 0xfeff_ffff, 0x01ff_ffff, -4 >>> 0]],
  [
    "rounding",
    [
      ...bitsOf(Math.fround(1.1) * Math.fround(1.1), 16_777_216),
      -2 >>> 0,
      ...bitsOf(Math.fround(16_777_217)),
    ],
  ],
];

/** Returns what the device computes wrongly; "" if nothing. */
export function selfTest(gl: WebGL2RenderingContext): string {
  const storages = new Storages(gl);
  const programs = new Programs(gl);
  const source = storages.create(48, "self-test");
  const target = storages.create(64, "self-test");
  storages.write(source, 0, Uint32Array.from([...BITS, ...NUMBERS, ...bitsOf(...FLOATS)]));
  const program = programs.link(TEXT, "self-test", ["words"]);
  gl.useProgram(program);
  programs.bindTextures([source.texture]);
  programs.drawTexels(target, 0, 4);
  const words = storages.readNow(target, 0, 4);
  gl.deleteProgram(program);
  for (const storage of [source, target]) storages.destroy(storage);
  const wrong = EXPECTED.find(([, expected], i) =>
    expected.some((word, k) => words[i * 4 + k] !== word),
  );
  return wrong === undefined ? "" : wrong[0];
}
