// The cases that every executor must pass. A case runs on the issuer's thread, in Node or in a browser's worker, and
// throws if something is wrong.

import { Capability, TRACE_WORDS, Word } from "../ring/layout.ts";
import { RingError, type RingWriter } from "./ring_writer.fixture.ts";

export const ADD = `
struct Args { n: u32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < args.n) { c[id.x] = a[id.x] + b[id.x]; }
}`;
/** Computes words[0] = words[0] * 3 + value. After several dispatches the result shows in which order they ran. */
export const STEP = `
@group(0) @binding(0) var<uniform> value: u32;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(1) fn main() { words[0] = words[0] * 3u + value; }`;
// The same kernels for WebGL2. The uniform words 4 and 5 are the range of texels.
const PASS = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
struct Words { uvec4 w[2]; };
uniform Words u;
layout(location = 0) out uvec4 result;`;
const ADD_PASS = `//pass target 2 range 4 reads 0 1
${PASS}
uniform usampler2D b0;
uniform usampler2D b1;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  result = floatBitsToUint(uintBitsToFloat(texelFetch(b0, at, 0)) + uintBitsToFloat(texelFetch(b1, at, 0)));
}`;
const STEP_PASS = `//pass target 0 range 4 reads 0
${PASS}
uniform usampler2D b0;
void main() {
  result = texelFetch(b0, ivec2(gl_FragCoord.xy), 0);
  result.x = result.x * 3u + u.w[0].x;
}`;

/** Returns the uniform words of ADD and STEP, which write \`texels\` texels. */
const uniformsOf = (ring: RingWriter, value: number, texels: number): number[] =>
  ring.isWebGl2 ? [value, 0, 0, 0, 0, texels, 0, 0] : [value];

function makeAdder(ring: RingWriter, id: number): void {
  if (ring.isWebGl2) ring.createPipeline(id, ADD_PASS, "add_f32", 32, 3, 0b100);
  else ring.createPipeline(id, ADD, "add_f32", 4, 3, 0b100);
}

export const EMPTY = "@compute @workgroup_size(1) fn main() {}";

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== should) throw new Error(`${what}: ${is} instead of ${should}`);
}

export function expectFault(run: () => void, what: string): RingError {
  try {
    run();
  } catch (error) {
    if (error instanceof RingError) return error;
    throw error;
  }
  throw new Error(`${what}: no error was reported`);
}

/** Reads the first `count` words of a buffer. */
export function readWords(ring: RingWriter, id: number, count: number): number[] {
  const to = ring.allocate(count * 4);
  ring.append(10, [id, 0, to, count * 4]);
  ring.finish();
  return [...new Uint32Array(ring.buffer, to, count)];
}

export function step(ring: RingWriter, id: number, value: number, tag = 0): number {
  return ring.dispatch({
    tag,
    pipeline: 1,
    grid: [1, 1, 1],
    bindings: [[id, 0, 256]],
    uniforms: uniformsOf(ring, value, 1),
  });
}

export function makeStepper(ring: RingWriter): void {
  if (ring.isWebGl2) ring.createPipeline(1, STEP_PASS, "step", 32, 1, 1);
  else ring.createPipeline(1, STEP, "step", 4, 1, 1);
  ring.createBuffer(1, 256, "counter");
}

/** Returns words[0] after `count` dispatches of STEP, of which dispatch i has the value `value(i)`. */
export function stepped(count: number, value: (i: number) => number, start = 0): number {
  let word = start;
  for (let i = 0; i < count; i += 1) word = (Math.imul(word, 3) + value(i)) >>> 0;
  return word;
}

export interface Case {
  readonly name: string;
  readonly ringWords?: number;
  readonly strict?: boolean;
  run(ring: RingWriter): void;
}

export const cases: readonly Case[] = [
  {
    name: "adds two arrays",
    run(ring) {
      const n = 1000;
      const a = ring.allocate(n * 4);
      const b = ring.allocate(n * 4);
      const c = ring.allocate(n * 4);
      ring.floats(a, n).set(Float32Array.from({ length: n }, (_, i) => i));
      ring.floats(b, n).set(Float32Array.from({ length: n }, (_, i) => i * 0.5));
      for (const id of [1, 2, 3]) ring.createBuffer(id, n * 4);
      ring.append(3, [1, 0, a, n * 4]);
      ring.append(3, [2, 0, b, n * 4]);
      makeAdder(ring, 7);
      ring.dispatch({
        pipeline: 7,
        grid: [Math.ceil(n / 64), 1, 1],
        bindings: [1, 2, 3].map((id) => [id, 0, n * 4] as const),
        uniforms: uniformsOf(ring, n, n / 4),
      });
      ring.append(10, [3, 0, c, n * 4]);
      ring.finish();
      const expected = Float32Array.from({ length: n }, (_, i) => i * 1.5);
      expectEqual([...ring.floats(c, n)], [...expected], "sums");
    },
  },
  {
    name: "executes many dispatches in order through a ring that wraps",
    ringWords: 4096,
    run(ring) {
      makeStepper(ring);
      const before = ring.load(Word.dispatches);
      // Software that draws takes a millisecond for each dispatch.
      const count = ring.isWebGl2 ? 4000 : 20_000;
      for (let i = 0; i < count; i += 1) {
        step(ring, 1, i % 7);
        if (i % 32 === 31) ring.flush();
      }
      expectEqual(readWords(ring, 1, 1), [stepped(count, (i) => i % 7)], "word");
      expectEqual(ring.load(Word.dispatches) - before, count, "dispatches");
    },
  },
  {
    name: "brings up and back sizes that are no multiples of 4",
    run(ring) {
      ring.createBuffer(1, 4096);
      for (const bytes of [1, 2, 3, 4, 5, 7, 255, 1001, 4095]) {
        const data = Uint8Array.from({ length: bytes }, (_, i) => (i * 7 + bytes) % 256);
        const from = ring.put(data);
        const to = ring.put(new Uint8Array(bytes + 8).fill(0xee));
        ring.append(6, [1, 0, 4096, 0xffffffff]);
        ring.append(3, [1, 0, from, bytes]);
        ring.append(10, [1, 0, to, bytes]);
        const inWords = ring.put(new Uint8Array(4096));
        ring.append(10, [1, 0, inWords, 4096]);
        ring.finish();
        expectEqual([...ring.bytes(to, bytes)], [...data], `${bytes} bytes`);
        expectEqual([...ring.bytes(to + bytes, 8)], new Array(8).fill(0xee), "behind the bytes");
        const rest = Math.ceil(bytes / 4) * 4;
        const zeros = new Array(rest - bytes).fill(0);
        expectEqual([...ring.bytes(inWords + bytes, rest - bytes)], zeros, "the last word's rest");
        if (rest < 4096) expectEqual(ring.bytes(inWords + rest, 1)[0], 255, "the next word");
      }
    },
  },
  {
    name: "keeps uploads, dispatches, fills, copies and reads of one buffer in order",
    run(ring) {
      makeStepper(ring);
      ring.createBuffer(2, 256, "other");
      const to = ring.allocate(64);
      step(ring, 1, 5);
      ring.append(10, [1, 0, to, 4]); // 5
      ring.append(4, [1, 0, 4, 100]); // inline upload: 100
      step(ring, 1, 1); // 301
      ring.append(5, [1, 0, 2, 0, 256]); // copy
      ring.append(10, [2, 0, to + 4, 4]); // 301
      ring.append(6, [1, 0, 256, 11]); // fill
      step(ring, 1, 2); // 35
      ring.append(10, [1, 0, to + 8, 8]); // 35, 11
      ring.append(6, [1, 4, 8, 0]);
      ring.append(10, [1, 0, to + 16, 16]); // 35, 0, 0, 11
      ring.append(2, [1]); // destroyed while the open batch uses it
      ring.createBuffer(1, 256, "again");
      ring.append(10, [1, 0, to + 32, 4]); // 0: a new buffer
      ring.finish();
      const words = [...new Uint32Array(ring.buffer, to, 9)];
      expectEqual(words, [5, 301, 35, 11, 35, 0, 0, 11, 0], "words");
    },
  },
  {
    name: "names the command of a shader error once and goes on",
    run(ring) {
      makeStepper(ring);
      step(ring, 1, 4);
      ring.append(14, ring.text("broken operation"));
      const position = ring.createPipeline(2, "fn main( {", "broken_kernel", 0, 0, 0);
      ring.append(14, [0, 0]);
      const error = expectFault(() => ring.finish(), "shader");
      expectEqual(error.fault?.code, "shader", "code");
      expectEqual(error.fault?.position, position, "position");
      expectEqual(error.fault?.opcode, "createPipeline", "opcode");
      for (const part of ["broken_kernel", "broken operation", "expected"])
        if (!error.fault?.text.includes(part)) throw new Error(`no '${part}': ${error.message}`);
      step(ring, 1, 5);
      expectEqual(readWords(ring, 1, 1), [17], "what came before and after");
    },
  },
  {
    name: "refuses a kernel that was refused, and what is near it works",
    run(ring) {
      makeStepper(ring);
      step(ring, 1, 1);
      ring.createPipeline(2, "fn main( {", "broken_kernel", 0, 0, 0);
      ring.dispatch({ tag: 77, pipeline: 2, grid: [1, 1, 1], bindings: [] });
      step(ring, 1, 2);
      const error = expectFault(() => ring.finish(), "shader");
      expectEqual(error.fault?.code, "shader", "code");
      // The dispatch fails too. Its error is dropped if the error slot still holds the pipeline's error.
      const follows = ring.load(Word.errorsDropped);
      if (follows === 0) {
        const second = expectFault(() => ring.finish(), "refused");
        expectEqual([second.fault?.code, second.fault?.tag], ["unknownPipeline", 77], "dispatch");
      }
      expectEqual(readWords(ring, 1, 1), [5], "its neighbours");
    },
  },
  {
    name: "refuses an impossible buffer and works afterwards",
    run(ring) {
      makeStepper(ring);
      const impossible = ring.createBuffer(9, 0xfffffffc, "far too large");
      step(ring, 1, 6);
      const error = expectFault(() => ring.finish(), "buffer");
      expectEqual(error.fault?.code, "overLimit", "code");
      expectEqual(error.fault?.position, impossible, "position");
      if (!error.fault?.text.includes("far too large")) throw new Error(error.message);
      const before = ring.append(10, [9, 0, ring.allocate(4), 4]);
      const unknown = expectFault(() => ring.finish(), "read");
      expectEqual(unknown.fault?.code, "unknownBuffer", "code");
      expectEqual(unknown.fault?.position, before, "position");
      expectEqual(readWords(ring, 1, 1), [6], "word");
    },
  },
  {
    name: "checks each command by itself, so that none takes others with it",
    run(ring) {
      makeStepper(ring);
      makeAdder(ring, 2);
      ring.createBuffer(2, 1024, "pair");
      const dispatch = (bindings: [number, number, number][], grid = 1) =>
        ring.dispatch({
          tag: 3,
          pipeline: 2,
          grid: [grid, 1, 1],
          bindings,
          uniforms: uniformsOf(ring, 4, 1),
        });
      const wrong: [string, () => number][] = [
        ["badBinding", () => dispatch([[2, 0, 16]])],
        [
          "badBinding",
          () =>
            dispatch([
              [2, 0, 16],
              [2, 4, 16],
              [1, 0, 16],
            ]),
        ],
        [
          "badBinding",
          () =>
            dispatch([
              [2, 0, 0],
              [2, 256, 16],
              [1, 0, 16],
            ]),
        ],
        [
          "badBinding",
          () =>
            dispatch([
              [2, 0, 16],
              [1, 0, 16],
              [2, 256, 16],
            ]),
        ],
        [
          "badRange",
          () =>
            dispatch([
              [2, 0, 16],
              [2, 768, 260],
              [1, 0, 16],
            ]),
        ],
        [
          "unknownBuffer",
          () =>
            dispatch([
              [2, 0, 16],
              [44, 0, 16],
              [1, 0, 16],
            ]),
        ],
        [
          "overLimit",
          () =>
            dispatch(
              [
                [2, 0, 16],
                [2, 256, 16],
                [1, 0, 16],
              ],
              70_000_000,
            ),
        ],
        ["unknownPipeline", () => ring.dispatch({ pipeline: 66, grid: [1, 1, 1], bindings: [] })],
        ["badRange", () => ring.append(3, [1, 2, 0, 4])],
        ["badRange", () => ring.append(5, [1, 0, 1, 128, 16])],
        ["badRange", () => ring.append(6, [1, 252, 8, 1])],
        ["badAddress", () => ring.append(3, [1, 0, 0xfffffff0, 16])],
        ["badAddress", () => ring.append(10, [1, 0, 0xfffffff0, 16])],
        ["unknownBuffer", () => ring.append(2, [55])],
        ["badCommand", () => ring.append(200, [1])],
        ["badCommand", () => ring.append(5, [1])],
        ["badCommand", () => ring.append(4, [1, 0, 400, 0])],
      ];
      let count = 0;
      for (const [code, command] of wrong) {
        step(ring, 1, 1);
        const position = command();
        step(ring, 1, 1);
        count += 2;
        const error = expectFault(() => ring.finish(), code);
        expectEqual([error.fault?.code, error.fault?.position], [code, position], error.message);
      }
      expectEqual(readWords(ring, 1, 1), [stepped(count, () => 1)], "word");
      expectEqual(ring.load(Word.errorsDropped), 0, "dropped errors");
    },
  },
  {
    name: "finds the command in strict mode",
    strict: true,
    run(ring) {
      makeStepper(ring);
      for (let i = 0; i < 5; i += 1) step(ring, 1, i);
      const position = ring.createPipeline(2, "@compute fn main() {}", "no_size", 0, 0, 0);
      step(ring, 1, 9);
      const error = expectFault(() => ring.finish(), "strict");
      expectEqual(error.fault?.position, position, "position");
      expectEqual(readWords(ring, 1, 1), [stepped(6, (i) => (i === 5 ? 9 : i))], "word");
    },
  },
  {
    name: "takes 64 MiB up and back",
    run(ring) {
      const bytes = 64 * 2 ** 20;
      const at = ring.allocate(bytes);
      const words = new Uint32Array(ring.buffer, at, bytes / 4);
      for (let i = 0; i < words.length; i += 1024) words[i] = i;
      words[words.length - 1] = 12345;
      ring.createBuffer(1, bytes, "large");
      ring.append(3, [1, 0, at, bytes]);
      ring.finish();
      words.fill(0);
      ring.append(10, [1, 0, at, bytes]);
      ring.finish();
      for (let i = 0; i < words.length; i += 1024)
        if (words[i] !== i) throw new Error(`word ${i} is ${words[i]}`);
      expectEqual(words[words.length - 1], 12345, "the last word");
    },
  },
  {
    name: "fills parts and more than one row of workgroups",
    run(ring) {
      const bytes = 20 * 2 ** 20;
      ring.createBuffer(1, bytes, "large");
      ring.append(6, [1, 4, bytes - 8, 0x01020304]);
      const to = ring.allocate(bytes);
      ring.append(10, [1, 0, to, bytes]);
      ring.finish();
      const words = new Uint32Array(ring.buffer, to, bytes / 4);
      const wrong = words.subarray(1, -1).findIndex((word) => word !== 0x01020304);
      expectEqual([words[0], words.at(-1), wrong], [0, 0, -1], "first, last, wrong one");
    },
  },
  {
    name: "tells when a series of dispatches began and ended",
    run(ring) {
      makeStepper(ring);
      const at = ring.put(new Uint8Array(32).fill(0xff));
      for (const address of [at, at + 16]) {
        ring.append(12, []);
        for (let i = 0; i < 500; i += 1) step(ring, 1, i);
        ring.append(13, [address]);
      }
      ring.finish();
      const [begin = 0n, end = 0n, next = 0n, last = 0n] = new BigUint64Array(ring.buffer, at, 4);
      const hasClock = (ring.load(Word.capabilityFlags) & Capability.timestamps) !== 0;
      if (hasClock) {
        if (!(begin > 0n && begin <= end && end <= next && next <= last && begin < last))
          throw new Error(`times ${begin}, ${end}, ${next}, ${last}`);
      } else {
        expectEqual([begin, end, next, last].map(Number), [0, 0, 0, 0], "no clock");
      }
    },
  },
  {
    name: "tells when each dispatch ran",
    run(ring) {
      makeStepper(ring);
      // First come more timed dispatches than fit in a batch, then some for which the trace's memory has no space, and
      // then one after the end of the trace.
      const count = 1100;
      const at = ring.put(new Uint8Array(count * TRACE_WORDS * 4));
      ring.append(15, [at, count]);
      const position = step(ring, 1, 0);
      for (let i = 1; i < count + 3; i += 1) step(ring, 1, i, i);
      ring.finish();
      ring.append(15, [0, 0]);
      step(ring, 1, 7);
      expectEqual(
        readWords(ring, 1, 1),
        [stepped(count + 4, (i) => (i < count + 3 ? i : 7))],
        "word",
      );
      const words = new Uint32Array(ring.buffer, at, count * TRACE_WORDS);
      const times = new BigUint64Array(ring.buffer, at, (count * TRACE_WORDS) / 2);
      expectEqual(words[0], position, "the first one's position");
      const hasClock = (ring.load(Word.capabilityFlags) & Capability.timestamps) !== 0;
      let last = 0n;
      for (let i = 0; i < count; i += 1) {
        const [at, tag] = [words[i * TRACE_WORDS] ?? 0, words[i * TRACE_WORDS + 1]];
        const [begin = 0n, end = 0n] = times.subarray(i * 3 + 1, i * 3 + 3);
        if (tag !== i || at < position || end < begin || begin < last || hasClock !== begin > 0n)
          throw new Error(`dispatch ${i}: tag ${tag}, position ${at}, ${begin} to ${end}`);
        last = end;
      }
    },
  },
  {
    name: "starts again after a reset",
    run(ring) {
      makeStepper(ring);
      step(ring, 1, 8);
      ring.append(200, [1]);
      ring.reset();
      makeStepper(ring);
      step(ring, 1, 3);
      expectEqual(readWords(ring, 1, 1), [3], "word");
      expectEqual(ring.load(Word.buffersLive), 1, "buffers");
    },
  },
];
