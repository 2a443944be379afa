// Executes the ring's commands by WebGL2 (array-core/docs/webgl2.md). A buffer is a storage, which is a texture of words.
// A pipeline is a kernel in GLSL: array-core writes it for this executor. Commands take effect in the ring's order,
// because the context executes its calls in order. Each command is checked before it does anything. Runs on the thread
// that takes commands from the ring.

import {
  type Capabilities,
  CommandError,
  type CommandName,
  type DeviceEvents,
  type Executor,
  noCounters,
  type PipelineSpec,
} from "../ring/executor.ts";
import {
  BINDING_ALIGNMENT,
  Capability,
  ErrorCode,
  MAX_BINDINGS,
  MAX_UNIFORM_WORDS,
  TRACE_WORDS,
} from "../ring/layout.ts";
import { Fences } from "./fences.ts";
import { type Kernel, Kernels } from "./kernels.ts";
import { Programs } from "./programs.ts";
import { heldBytes, type Storage, Storages } from "./storages.ts";
import { Words } from "./words.ts";

/** If a buffer is at least this large, the executor asks whether the device had memory for it. */
const WATCHED_BYTES = 64 * 2 ** 20;
/** After this many dispatches, the executor asks how far the device has come. */
const DISPATCHES_PER_QUESTION = 512;
const OPEN_QUESTIONS = 4;

interface Pipeline {
  readonly kernel: Kernel;
  readonly bindings: number;
  readonly uniformBytes: number;
  readonly readWriteMask: number;
}

export class WebGl2Executor implements Executor {
  readonly capabilities: Capabilities;
  readonly counters = noCounters();

  readonly #gl: WebGL2RenderingContext;
  readonly #events: DeviceEvents;
  readonly #storages: Storages;
  readonly #kernels: Kernels;
  readonly #words: Words;
  readonly #fences: Fences;
  readonly #buffers = new Map<number, Storage>();
  readonly #pipelines = new Map<number, Pipeline>();
  readonly #uniforms = new Uint32Array(MAX_UNIFORM_WORDS);
  readonly #slots: Storage[] = [];
  readonly #sharedUploads: boolean;
  #isIdle = true;
  #unasked = 0;
  #questions: Promise<void>[] = [];
  #trace:
    | { taken: number; count: number; land: (first: number, data: Uint8Array) => void }
    | undefined;
  #ended = false;

  /** `canvas` is that of the context. It tells when the context is lost. */
  constructor(
    gl: WebGL2RenderingContext,
    canvas: EventTarget,
    capabilities: Capabilities,
    events: DeviceEvents,
  ) {
    this.#gl = gl;
    this.capabilities = capabilities;
    this.#events = events;
    this.#sharedUploads = (capabilities.flags & Capability.sharedUploads) !== 0;
    const programs = new Programs(gl);
    this.#storages = new Storages(gl);
    this.#kernels = new Kernels(programs, this.#storages);
    this.#words = new Words(gl, this.#storages, programs);
    this.#fences = new Fences(gl, this.#storages);
    canvas.addEventListener("webglcontextlost", () => {
      this.#fences.stop();
      if (!this.#ended) events.lost("The browser took the WebGL2 context away.");
    });
  }

  // ---- buffers --------------------------------------------------------------------------------

  createBuffer(id: number, bytes: number, label: string): undefined {
    if (this.#buffers.has(id))
      throw new CommandError(ErrorCode.badCommand, `there is a buffer ${id} already`);
    if (bytes === 0 || bytes % 4 !== 0)
      throw new CommandError(ErrorCode.badRange, `'${label}' has ${bytes} bytes`);
    if (bytes > this.capabilities.maxBufferBytes)
      throw new CommandError(
        ErrorCode.overLimit,
        `'${label}' has ${bytes} bytes, a buffer at most ${this.capabilities.maxBufferBytes} here`,
      );
    const isWatched = bytes >= WATCHED_BYTES;
    if (isWatched) this.#reportErrors(undefined);
    const storage = this.#storages.create(bytes, label);
    if (isWatched) {
      const error = this.#nextError();
      if (error !== undefined) {
        this.#storages.destroy(storage);
        throw new CommandError(error, `the device has no ${bytes} bytes for '${label}'`);
      }
    }
    this.#buffers.set(id, storage);
    this.counters.buffersLive += 1;
    this.counters.bufferBytesLive += heldBytes(storage);
    return undefined;
  }

  destroyBuffer(id: number): void {
    const storage = this.#storage(id);
    this.#buffers.delete(id);
    this.counters.buffersLive -= 1;
    this.counters.bufferBytesLive -= heldBytes(storage);
    this.#storages.destroy(storage);
  }

  upload(id: number, offset: number, source: Uint8Array<SharedArrayBuffer>): void {
    const storage = this.#storage(id);
    const words = Math.ceil(source.length / 4);
    checkRange(storage, offset, words * 4);
    if (words === 0) return;
    this.#words.upload(storage, offset / 4, this.#wordsOf(source, words));
    this.counters.bytesUp += source.length;
    this.#isIdle = false;
  }

  #wordsOf(source: Uint8Array<SharedArrayBuffer>, words: number): Uint32Array {
    if (this.#sharedUploads && source.byteOffset % 4 === 0 && source.length % 4 === 0)
      return new Uint32Array(source.buffer, source.byteOffset, words);
    const copy = new Uint32Array(words);
    new Uint8Array(copy.buffer).set(source);
    return copy;
  }

  copy(source: number, from: number, target: number, to: number, bytes: number): void {
    const sourceStorage = this.#storage(source);
    const targetStorage = this.#storage(target);
    checkRange(sourceStorage, from, bytes);
    checkRange(targetStorage, to, bytes);
    if (source === target)
      throw new CommandError(ErrorCode.badRange, "a copy is between two buffers");
    if (bytes === 0) return;
    this.#words.copy(sourceStorage, from / 4, targetStorage, to / 4, bytes / 4);
    this.#isIdle = false;
  }

  fill(id: number, offset: number, bytes: number, value: number): undefined {
    const storage = this.#storage(id);
    checkRange(storage, offset, bytes);
    if (bytes === 0) return undefined;
    this.#words.fill(storage, offset / 4, bytes / 4, value);
    this.#isIdle = false;
    return undefined;
  }

  // ---- pipelines and dispatches ---------------------------------------------------------------

  createPipeline(id: number, spec: PipelineSpec): void {
    if (this.#pipelines.has(id))
      throw new CommandError(ErrorCode.badCommand, `there is a pipeline ${id} already`);
    if (spec.bindings > MAX_BINDINGS || spec.uniformBytes > this.capabilities.maxUniformBytes)
      throw new CommandError(
        ErrorCode.overLimit,
        `'${spec.label}' has ${spec.bindings} bindings and ${spec.uniformBytes} uniform bytes`,
      );
    const kernel = this.#kernels.create(spec.text, spec.label);
    for (const { target, reads } of kernel.passes)
      if (Math.max(target, ...reads) >= spec.bindings || !((spec.readWriteMask >>> target) & 1)) {
        this.#kernels.destroy(kernel);
        throw new CommandError(ErrorCode.shader, `'${spec.label}' has a pass with unknown slots`);
      }
    const { bindings, uniformBytes, readWriteMask } = spec;
    this.#pipelines.set(id, { kernel, bindings, uniformBytes, readWriteMask });
    this.counters.pipelinesCreated += 1;
  }

  destroyPipeline(id: number): void {
    const pipeline = this.#pipelines.get(id);
    if (pipeline === undefined)
      throw new CommandError(ErrorCode.unknownPipeline, `there is no pipeline ${id}`);
    this.#pipelines.delete(id);
    this.#kernels.destroy(pipeline.kernel);
  }

  dispatch(words: Uint32Array<SharedArrayBuffer>, at: number): undefined {
    const number = words[at + 1] ?? 0;
    const pipeline = this.#pipelines.get(number);
    if (pipeline === undefined)
      throw new CommandError(ErrorCode.unknownPipeline, `there is no pipeline ${number}`);
    const counts = words[at + 5] ?? 0;
    const bindings = counts & 0xffff;
    const uniforms = counts >>> 16;
    if (bindings !== pipeline.bindings || uniforms * 4 > pipeline.uniformBytes)
      throw new CommandError(
        ErrorCode.badBinding,
        `the kernel takes ${pipeline.bindings} bindings and ${pipeline.uniformBytes} uniform bytes`,
      );
    const grid = words.subarray(at + 2, at + 5);
    if (grid.some((extent) => extent > this.capabilities.maxGrid))
      throw new CommandError(ErrorCode.overLimit, `the grid is ${grid.join(", ")}`);
    this.#bind(pipeline, words, at + 6);
    const length = Math.ceil(pipeline.uniformBytes / 16) * 4;
    this.#uniforms.fill(0, 0, length);
    for (let i = 0; i < uniforms; i += 1) this.#uniforms[i] = words[at + 6 + bindings * 3 + i] ?? 0;
    if (!grid.includes(0))
      this.#kernels.dispatch(pipeline.kernel, this.#slots, this.#uniforms.subarray(0, length));
    this.counters.dispatches += 1;
    this.#isIdle = false;
    this.#unasked += 1;
    this.#noteTraced();
    return undefined;
  }

  // Checks the bindings at words[at...] and puts their storages into the slots.
  #bind(pipeline: Pipeline, words: Uint32Array<SharedArrayBuffer>, at: number): void {
    this.#slots.length = 0;
    for (let i = 0; i < pipeline.bindings; i += 1) {
      const id = words[at + i * 3] ?? 0;
      const offset = words[at + i * 3 + 1] ?? 0;
      const bytes = words[at + i * 3 + 2] ?? 0;
      const storage = this.#buffers.get(id);
      if (storage === undefined)
        throw new CommandError(ErrorCode.unknownBuffer, `binding ${i}: there is no buffer ${id}`);
      const where = `binding ${i}, bytes ${offset} to ${offset + bytes} of '${storage.label}'`;
      if (offset % BINDING_ALIGNMENT !== 0 || bytes === 0 || bytes % 4 !== 0)
        throw new CommandError(ErrorCode.badBinding, `${where}: unaligned or empty`);
      if (offset + bytes > heldBytes(storage))
        throw new CommandError(ErrorCode.badRange, `${where}: outside its ${storage.bytes} bytes`);
      if (offset !== 0)
        throw new CommandError(ErrorCode.badBinding, `${where}: WebGL2 binds buffers as a whole`);
      for (let j = 0; j < i; j += 1) {
        const isWritten = ((pipeline.readWriteMask >>> i) | (pipeline.readWriteMask >>> j)) & 1;
        if (this.#slots[j] === storage && isWritten)
          throw new CommandError(ErrorCode.badBinding, `${where}: bound twice and written`);
      }
      this.#slots.push(storage);
    }
  }

  // ---- batches, reads and fences --------------------------------------------------------------

  submit(): Promise<void> | undefined {
    if (this.#isIdle) return undefined;
    this.#isIdle = true;
    this.counters.submits += 1;
    if (this.#unasked < DISPATCHES_PER_QUESTION) {
      this.#gl.flush();
      return undefined;
    }
    this.#unasked = 0;
    this.#questions.push(new Promise((resolve) => this.#fences.point(resolve)));
    return this.#questions.length < OPEN_QUESTIONS ? undefined : this.#questions.shift();
  }

  nudge(): void {
    this.#fences.poll();
  }

  read(id: number, offset: number, bytes: number, land: (data: Uint8Array) => void): void {
    const storage = this.#storage(id);
    checkRange(storage, offset, Math.ceil(bytes / 4) * 4);
    if (bytes === 0) return;
    this.#fences.read(storage, offset, bytes, land);
    this.counters.bytesDown += bytes;
    this.#isIdle = false;
  }

  fence(reached: () => void): void {
    this.#isIdle = true;
    this.#fences.point(() => {
      this.#reportErrors(undefined);
      if (!this.#ended) reached();
    });
  }

  // WebGL2 has no clock that every device offers. So all times are zeros.

  timestampBegin(): void {}

  timestampEnd(land: (data: Uint8Array) => void): void {
    land(new Uint8Array(16));
  }

  trace(count: number, land: (first: number, data: Uint8Array) => void): void {
    this.#trace = count > 0 ? { taken: 0, count, land } : undefined;
  }

  #noteTraced(): void {
    const trace = this.#trace;
    if (trace === undefined || trace.taken === trace.count) return;
    const { position, tag } = this.#events.current();
    const record = new Uint32Array(TRACE_WORDS);
    record.set([position, tag]);
    trace.land(trace.taken, new Uint8Array(record.buffer));
    trace.taken += 1;
  }

  // ---- errors, and the end of the executor ----------------------------------------------------

  watch(): () => Promise<boolean> {
    const command = this.#events.current();
    this.#reportErrors(undefined); // errors of earlier commands must not be reported for this one
    return async () => this.#reportErrors(command);
  }

  destroy(): void {
    this.#ended = true;
    this.#fences.stop();
    // This frees the memory at once, and not when the context is collected.
    this.#gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  /** Reports the context's errors. Returns whether there were none. */
  #reportErrors(command: CommandName | undefined): boolean {
    const code = this.#nextError();
    if (code === undefined) return true;
    if (!this.#ended) this.#events.failed(code, "WebGL2 refused it", command);
    return false;
  }

  /** Returns the code of the first error since the last call, and forgets the others. Waits for the device. */
  #nextError(): CommandError["code"] | undefined {
    const gl = this.#gl;
    let first: CommandError["code"] | undefined;
    for (;;) {
      const error = gl.getError();
      if (error === gl.NO_ERROR || error === gl.CONTEXT_LOST_WEBGL) return first;
      first ??= error === gl.OUT_OF_MEMORY ? ErrorCode.outOfMemory : ErrorCode.validation;
    }
  }

  #storage(id: number): Storage {
    const storage = this.#buffers.get(id);
    if (storage === undefined)
      throw new CommandError(ErrorCode.unknownBuffer, `there is no buffer ${id}`);
    return storage;
  }
}

function checkRange(storage: Storage, offset: number, bytes: number): void {
  if (offset % 4 !== 0 || bytes % 4 !== 0 || offset + bytes > storage.bytes)
    throw new CommandError(
      ErrorCode.badRange,
      `bytes ${offset} to ${offset + bytes} of '${storage.label}', which has ${storage.bytes}`,
    );
}
