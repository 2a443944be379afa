// Executes the ring's commands by WebGPU. A batch has one encoder and one open compute pass. Its uniforms are written
// once and bound by dynamic offsets. Bind groups are cached. It checks each command for faults that would make the
// device refuse the whole batch, so that a bad command fails alone. Runs on the thread that takes commands from the
// ring.

import {
  type Capabilities,
  CommandError,
  type CommandName,
  type DeviceEvents,
  type Executor,
  noCounters,
  type PipelineSpec,
} from "../ring/executor.ts";
import { Capability, ErrorCode } from "../ring/layout.ts";
import { BindGroups, type BufferSlot, type GroupLayout } from "./bind_groups.ts";
import { DispatchTimes } from "./dispatch_times.ts";
import { type Landing, Readback } from "./readback.ts";

const Usage = { copySrc: 0x4, copyDst: 0x8, uniform: 0x40, storage: 0x80, queryResolve: 0x200 };
/** The space for the uniforms of one batch. The uniforms of each dispatch begin at a multiple of UNIFORM_STRIDE. */
const UNIFORM_BYTES = 256 * 1024;
const UNIFORM_STRIDE = 256;
/** If a buffer is at least this large, the executor waits for the result of its creation. */
const WATCHED_BYTES = 64 * 2 ** 20;
/** A batch is submitted after this many dispatches even if more wait, so that the device does not idle. */
const BATCH_DISPATCHES = 1024;
/** After this many submits the device is asked for its progress. */
const SUBMITS_PER_QUESTION = 8;
const OPEN_QUESTIONS = 4;

const FILL_TEXT = `
struct Fill { first: u32, count: u32, value: u32, row: u32 }
@group(0) @binding(0) var<uniform> fill: Fill;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * fill.row;
  if (i < fill.count) { words[fill.first + i] = fill.value; }
}`;

interface Pipeline {
  readonly label: string;
  readonly layout: GroupLayout;
  readonly pipeline: GPUComputePipeline;
  /** Settles when the device has accepted or refused the pipeline; undefined afterwards. */
  proof: Promise<void> | undefined;
  /** Whether the device refused the pipeline. The refusal was reported when the pipeline was created. */
  refused: boolean;
}

export class WebGpuExecutor implements Executor {
  readonly capabilities: Capabilities;
  readonly counters = noCounters();

  readonly #device: GPUDevice;
  readonly #queue: GPUQueue;
  readonly #events: DeviceEvents;
  readonly #buffers = new Map<number, BufferSlot>();
  readonly #pipelines = new Map<number, Pipeline>();
  readonly #uniformBuffer: GPUBuffer;
  readonly #uniformWords = new Uint32Array(UNIFORM_BYTES / 4);
  readonly #groups: BindGroups;
  readonly #readback: Readback;
  readonly #sharedUploads: boolean;
  readonly #dynamicOffset = [0];
  #fillPipeline: Pipeline | undefined;
  #queries: { readonly set: GPUQuerySet; readonly resolved: GPUBuffer } | undefined;
  #timing = false;
  #trace: DispatchTimes | undefined;
  #destroyed = false;
  // The current batch.
  #batch = 1;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #bound: Pipeline | undefined;
  #boundGroup: GPUBindGroup | undefined;
  #uniformsUsed = 0;
  #batchDispatches = 0;
  #doomed: GPUBuffer[] = [];
  #landings: Landing[] = [];
  // The results that have not arrived yet.
  #landing: Promise<void>[] = [];
  #proofs: Promise<void>[] = [];
  /** Whether nothing was encoded after the newest read. If so, all work is done when that read arrives. */
  #endsWithRead = false;
  #tail: Promise<unknown> = Promise.resolve();
  #questions: Promise<unknown>[] = [];

  constructor(device: GPUDevice, capabilities: Capabilities, events: DeviceEvents) {
    this.#device = device;
    this.#queue = device.queue;
    this.capabilities = capabilities;
    this.#events = events;
    this.#sharedUploads = (capabilities.flags & Capability.sharedUploads) !== 0;
    this.#uniformBuffer = device.createBuffer({
      label: "uniforms",
      size: UNIFORM_BYTES,
      usage: Usage.uniform | Usage.copyDst,
    });
    this.#groups = new BindGroups(device, this.#uniformBuffer, capabilities.maxBindingBytes);
    this.#readback = new Readback(device);
    device.onuncapturederror = ({ error }) => {
      if (!this.#destroyed) events.failed(codeOf(error), error.message, undefined);
    };
    void device.lost.then(({ message }) => {
      if (!this.#destroyed) events.lost(message || "The browser gave no reason.");
    });
  }

  // ---- buffers --------------------------------------------------------------------------------

  createBuffer(id: number, bytes: number, label: string): Promise<void> | undefined {
    if (this.#buffers.has(id))
      throw new CommandError(ErrorCode.badCommand, `there is a buffer ${id} already`);
    if (bytes === 0 || bytes % 4 !== 0)
      throw new CommandError(ErrorCode.badRange, `'${label}' has ${bytes} bytes`);
    if (bytes > this.capabilities.maxBufferBytes)
      throw new CommandError(
        ErrorCode.overLimit,
        `'${label}' has ${bytes} bytes, a buffer at most ${this.capabilities.maxBufferBytes} here`,
      );
    const finish = bytes >= WATCHED_BYTES ? this.watch() : undefined;
    const buffer = this.#device.createBuffer({
      label,
      size: bytes,
      usage: Usage.storage | Usage.copySrc | Usage.copyDst,
    });
    this.#buffers.set(id, { buffer, bytes, label, batch: 0 });
    this.counters.buffersLive += 1;
    this.counters.bufferBytesLive += bytes;
    return finish?.().then((isThere) => {
      if (!isThere) this.destroyBuffer(id); // only a later command that names this buffer fails
    });
  }

  destroyBuffer(id: number): void {
    const slot = this.#slot(id);
    this.#buffers.delete(id);
    this.counters.buffersLive -= 1;
    this.counters.bufferBytesLive -= slot.bytes;
    // If the open encoder uses the buffer, the buffer must live until the submit.
    if (slot.batch === this.#batch) this.#doomed.push(slot.buffer);
    else slot.buffer.destroy();
  }

  upload(id: number, offset: number, source: Uint8Array<SharedArrayBuffer>): void {
    const slot = this.#slot(id);
    const bytes = source.length;
    this.#checkRange(slot, offset, Math.ceil(bytes / 4) * 4);
    if (bytes === 0) return;
    // writeBuffer would run before commands that are encoded but not submitted. So those are submitted first.
    if (slot.batch === this.#batch) this.#submitNow();
    this.#endsWithRead = false;
    const whole = bytes - (bytes % 4);
    if (whole > 0) {
      const words = source.subarray(0, whole);
      this.#queue.writeBuffer(slot.buffer, offset, this.#sharedUploads ? words : words.slice());
    }
    if (whole < bytes) {
      const rest = new Uint8Array(4);
      rest.set(source.subarray(whole));
      this.#queue.writeBuffer(slot.buffer, offset + whole, rest);
    }
    this.counters.bytesUp += bytes;
  }

  copy(source: number, from: number, target: number, to: number, bytes: number): void {
    const sourceSlot = this.#slot(source);
    const targetSlot = this.#slot(target);
    this.#checkRange(sourceSlot, from, bytes);
    this.#checkRange(targetSlot, to, bytes);
    if (source === target)
      throw new CommandError(ErrorCode.badRange, "a copy is between two buffers");
    if (bytes === 0) return;
    sourceSlot.batch = this.#batch;
    targetSlot.batch = this.#batch;
    this.#endsWithRead = false;
    this.#outsidePass().copyBufferToBuffer(sourceSlot.buffer, from, targetSlot.buffer, to, bytes);
  }

  fill(id: number, offset: number, bytes: number, value: number): Promise<void> | undefined {
    const slot = this.#slot(id);
    this.#checkRange(slot, offset, bytes);
    if (bytes === 0) return undefined;
    if (value === 0) {
      slot.batch = this.#batch;
      this.#endsWithRead = false;
      this.#outsidePass().clearBuffer(slot.buffer, offset, bytes);
      return undefined;
    }
    this.#fillPipeline ??= this.#newPipeline({
      text: FILL_TEXT,
      label: "fill",
      uniformBytes: 16,
      bindings: 1,
      readWriteMask: 1,
    });
    if (this.#fillPipeline.proof !== undefined) return this.#fillPipeline.proof;
    if (this.#fillPipeline.refused)
      throw new CommandError(ErrorCode.shader, "the device refuses to fill");
    // A whole buffer may exceed the largest binding, so it is processed in aligned pieces.
    const step = Math.floor(this.capabilities.maxBindingBytes / 256 / 2) * 256;
    for (let at = offset; at < offset + bytes; ) {
      const base = Math.floor(at / 256) * 256;
      const end = Math.min(offset + bytes, base + step);
      const count = (end - at) / 4;
      const groups = Math.ceil(count / 64);
      const x = Math.min(groups, this.capabilities.maxGrid);
      const place = this.#reserveUniforms(16);
      this.#uniformWords.set([(at - base) / 4, count, value, x * 64], place / 4);
      const binding = new Uint32Array(sharedScratch(), 0, 3);
      binding.set([id, base, end - base]);
      this.#encode(this.#fillPipeline, binding, 0, place, [x, Math.ceil(groups / x), 1]);
      at = end;
    }
    return undefined;
  }

  // ---- pipelines and dispatches ---------------------------------------------------------------

  createPipeline(id: number, spec: PipelineSpec): void {
    if (this.#pipelines.has(id))
      throw new CommandError(ErrorCode.badCommand, `there is a pipeline ${id} already`);
    if (spec.bindings > this.capabilities.maxStorageBuffers)
      throw new CommandError(
        ErrorCode.overLimit,
        `'${spec.label}' has ${spec.bindings} bindings, a kernel at most ${this.capabilities.maxStorageBuffers} here`,
      );
    if (spec.uniformBytes > this.capabilities.maxUniformBytes)
      throw new CommandError(
        ErrorCode.overLimit,
        `'${spec.label}' has ${spec.uniformBytes} uniform bytes`,
      );
    this.#pipelines.set(id, this.#newPipeline(spec));
  }

  destroyPipeline(id: number): void {
    if (!this.#pipelines.delete(id))
      throw new CommandError(ErrorCode.unknownPipeline, `there is no pipeline ${id}`);
  }

  // Creates a pipeline. The device accepts or refuses it later. The first dispatch waits for that, so that a shader error
  // belongs to one command and never loses a batch.
  #newPipeline(spec: PipelineSpec): Pipeline {
    const command = this.#events.current();
    this.#device.pushErrorScope("internal");
    this.#device.pushErrorScope("validation");
    const layout = this.#groups.layout(spec.uniformBytes, spec.bindings, spec.readWriteMask);
    const pipeline: Pipeline = {
      label: spec.label,
      layout,
      pipeline: this.#device.createComputePipeline({
        label: spec.label,
        layout: this.#device.createPipelineLayout({
          label: spec.label,
          bindGroupLayouts: [layout.layout],
        }),
        compute: {
          module: this.#device.createShaderModule({ label: spec.label, code: spec.text }),
          entryPoint: "main",
        },
      }),
      proof: undefined,
      refused: false,
    };
    this.counters.pipelinesCreated += 1;
    const scopes = [this.#device.popErrorScope(), this.#device.popErrorScope()];
    const proof = Promise.all(scopes).then(
      ([invalid, internal]) => {
        pipeline.proof = undefined;
        const error = invalid ?? internal;
        if (error === null || error === undefined) return;
        pipeline.refused = true;
        const code = invalid === null ? ErrorCode.deviceInternal : ErrorCode.shader;
        this.#tell(code, `'${spec.label}': ${error.message}`, command);
      },
      () => {
        pipeline.proof = undefined;
        pipeline.refused = true; // the device is lost, which is reported elsewhere
      },
    );
    pipeline.proof = proof;
    this.#proofs.push(proof);
    return pipeline;
  }

  dispatch(words: Uint32Array<SharedArrayBuffer>, at: number): Promise<void> | undefined {
    const pipeline = this.#pipelines.get(words[at + 1] ?? 0);
    if (pipeline === undefined)
      throw new CommandError(
        ErrorCode.unknownPipeline,
        `there is no pipeline ${words[at + 1] ?? 0}`,
      );
    if (pipeline.proof !== undefined) return pipeline.proof;
    if (pipeline.refused)
      throw new CommandError(ErrorCode.unknownPipeline, "the device has refused this kernel");
    const counts = words[at + 5] ?? 0;
    const bindings = counts & 0xffff;
    const uniforms = counts >>> 16;
    const { layout } = pipeline;
    if (bindings !== layout.bindings || uniforms * 4 > layout.uniformBytes)
      throw new CommandError(
        ErrorCode.badBinding,
        `the kernel takes ${layout.bindings} bindings and ${layout.uniformBytes} uniform bytes`,
      );
    const x = words[at + 2] ?? 0;
    const y = words[at + 3] ?? 0;
    const z = words[at + 4] ?? 0;
    const { maxGrid } = this.capabilities;
    if (x > maxGrid || y > maxGrid || z > maxGrid)
      throw new CommandError(
        ErrorCode.overLimit,
        `the grid is ${x}, ${y}, ${z}; ${maxGrid} is the most`,
      );
    let place = 0;
    if (layout.uniformBytes > 0) {
      place = this.#reserveUniforms(layout.uniformBytes);
      const from = at + 6 + bindings * 3;
      for (let i = 0; i < uniforms; i += 1)
        this.#uniformWords[place / 4 + i] = words[from + i] ?? 0;
    }
    if (this.#trace?.open === true) this.#encodeTimed(this.#trace, pipeline, words, at, place);
    else this.#encode(pipeline, words, at + 6, place, [x, y, z]);
    this.counters.dispatches += 1;
    if (this.#batchDispatches >= BATCH_DISPATCHES) this.#submitNow();
    return undefined;
  }

  #reserveUniforms(bytes: number): number {
    const place = this.#uniformsUsed;
    const next = place + Math.ceil(bytes / UNIFORM_STRIDE) * UNIFORM_STRIDE;
    if (next > UNIFORM_BYTES) {
      this.#submitNow();
      return this.#reserveUniforms(bytes);
    }
    this.#uniformsUsed = next;
    return place;
  }

  // Encodes a timed dispatch in its own pass, because only passes have times.
  #encodeTimed(
    trace: DispatchTimes,
    pipeline: Pipeline,
    words: Uint32Array<SharedArrayBuffer>,
    at: number,
    place: number,
  ): void {
    if (this.#timing) this.#openPass(); // this pass records when the other timer begins
    this.#endPass();
    this.#encoder ??= this.#device.createCommandEncoder({ label: `batch ${this.#batch}` });
    const { position, tag, label } = this.#events.current();
    this.#pass = this.#encoder.beginComputePass(trace.pass(position, tag, label));
    this.#encode(pipeline, words, at + 6, place, [
      words[at + 2] ?? 0,
      words[at + 3] ?? 0,
      words[at + 4] ?? 0,
    ]);
    this.#endPass();
  }

  #encode(
    pipeline: Pipeline,
    words: Uint32Array<SharedArrayBuffer>,
    at: number,
    place: number,
    [x, y, z]: readonly [number, number, number],
  ): void {
    const { layout } = pipeline;
    const group = this.#groups.find(layout, words, at, this.#buffers, this.#batch);
    this.counters.bindGroupsCreated = this.#groups.created;
    const pass = this.#pass ?? this.#openPass();
    if (this.#bound !== pipeline) {
      pass.setPipeline(pipeline.pipeline);
      this.#bound = pipeline;
    }
    if (layout.uniformBytes > 0) {
      this.#dynamicOffset[0] = place;
      pass.setBindGroup(0, group, this.#dynamicOffset);
      this.#boundGroup = undefined;
    } else if (this.#boundGroup !== group) {
      pass.setBindGroup(0, group);
      this.#boundGroup = group;
    }
    pass.dispatchWorkgroups(x, y, z);
    this.#batchDispatches += 1;
    this.#endsWithRead = false;
  }

  // ---- batches --------------------------------------------------------------------------------

  #openPass(): GPUComputePassEncoder {
    this.#encoder ??= this.#device.createCommandEncoder({ label: `batch ${this.#batch}` });
    const descriptor: GPUComputePassDescriptor = { label: this.#events.current().label };
    if (this.#timing && this.#queries !== undefined) {
      this.#timing = false;
      descriptor.timestampWrites = { querySet: this.#queries.set, beginningOfPassWriteIndex: 0 };
    }
    this.#pass = this.#encoder.beginComputePass(descriptor);
    return this.#pass;
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
    this.#bound = undefined;
    this.#boundGroup = undefined;
  }

  /** Closes an open pass and returns the encoder. */
  #outsidePass(): GPUCommandEncoder {
    this.#endPass();
    this.#encoder ??= this.#device.createCommandEncoder({ label: `batch ${this.#batch}` });
    return this.#encoder;
  }

  submit(): Promise<void> | undefined {
    this.#submitNow();
    if (this.#questions.length < OPEN_QUESTIONS) return undefined;
    const oldest = this.#questions.shift();
    return oldest?.then(() => {});
  }

  nudge(): void {
    this.#queue.submit([]);
  }

  #submitNow(): void {
    const encoder = this.#encoder;
    if (encoder === undefined) return;
    this.#endPass();
    this.#resolveTrace(encoder);
    if (this.#uniformsUsed > 0) {
      this.#queue.writeBuffer(
        this.#uniformBuffer,
        0,
        this.#uniformWords.buffer,
        0,
        this.#uniformsUsed,
      );
    }
    this.#queue.submit([encoder.finish()]);
    this.counters.submits += 1;
    this.#encoder = undefined;
    this.#uniformsUsed = 0;
    this.#batchDispatches = 0;
    this.#batch += 1;
    for (const buffer of this.#doomed) buffer.destroy();
    this.#doomed = [];
    for (const landing of this.#landings) this.#startLanding(landing);
    this.#landings = [];
    if (this.counters.submits % SUBMITS_PER_QUESTION === 0)
      this.#questions.push(this.#queue.onSubmittedWorkDone().catch(() => {}));
  }

  #startLanding(landing: Landing): void {
    const command = this.#events.current();
    this.#landing.push(
      this.#readback.land(landing).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        this.#tell(ErrorCode.deviceInternal, `the bytes did not come back: ${reason}`, command);
      }),
    );
  }

  // ---- reads, fences and times ----------------------------------------------------------------

  read(id: number, offset: number, bytes: number, land: (data: Uint8Array) => void): void {
    const slot = this.#slot(id);
    const whole = Math.ceil(bytes / 4) * 4;
    this.#checkRange(slot, offset, whole);
    if (bytes === 0) return;
    slot.batch = this.#batch;
    const staging = this.#readback.take(whole);
    this.#outsidePass().copyBufferToBuffer(slot.buffer, offset, staging, 0, whole);
    this.#landings.push({ staging, bytes, land });
    this.#endsWithRead = true;
    this.counters.bytesDown += bytes;
  }

  fence(reached: () => void): void {
    this.#submitNow();
    // If the queue's last work is a read, all work is done when the read's bytes arrive. Otherwise the queue's own
    // promise settles when its work is done.
    const arriving: Promise<unknown>[] = [this.#tail, ...this.#landing, ...this.#proofs];
    if (!this.#endsWithRead) arriving.push(this.#queue.onSubmittedWorkDone().catch(() => {}));
    this.#landing = [];
    this.#proofs = [];
    this.#tail = Promise.all(arriving).then(() => {
      if (!this.#destroyed) reached();
    });
  }

  timestampBegin(): void {
    if ((this.capabilities.flags & Capability.timestamps) === 0) return;
    this.#queries ??= {
      set: this.#device.createQuerySet({ label: "times", type: "timestamp", count: 2 }),
      resolved: this.#device.createBuffer({
        label: "times",
        size: 16,
        usage: Usage.queryResolve | Usage.copySrc,
      }),
    };
    this.#endPass();
    this.#timing = true;
  }

  timestampEnd(land: (data: Uint8Array) => void): void {
    if (this.#queries === undefined || this.#timing) {
      this.#timing = false;
      land(new Uint8Array(16)); // no clock, or nothing was dispatched
      return;
    }
    const { set, resolved } = this.#queries;
    const encoder = this.#outsidePass();
    const timestampWrites = { querySet: set, endOfPassWriteIndex: 1 };
    encoder.beginComputePass({ label: "end of time", timestampWrites }).end();
    encoder.resolveQuerySet(set, 0, 2, resolved, 0);
    const staging = this.#readback.take(16);
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, 16);
    this.#landings.push({ staging, bytes: 16, land });
    this.#endsWithRead = true;
  }

  trace(count: number, land: (first: number, data: Uint8Array) => void): void {
    this.#submitNow(); // earlier times belong to the earlier trace
    this.#trace?.destroy();
    const hasClock = (this.capabilities.flags & Capability.timestamps) !== 0;
    this.#trace =
      count > 0
        ? new DispatchTimes(this.#device, hasClock, BATCH_DISPATCHES, count, land)
        : undefined;
  }

  #resolveTrace(encoder: GPUCommandEncoder): void {
    const bytes = this.#trace?.bytes ?? 0;
    if (this.#trace === undefined || bytes === 0) return;
    const staging = this.#readback.take(bytes);
    this.#landings.push({ staging, bytes, land: this.#trace.resolve(encoder, staging) });
    this.#endsWithRead = true;
  }

  // ---- errors, and the end of the executor ----------------------------------------------------

  watch(): () => Promise<boolean> {
    const command = this.#events.current();
    this.#submitNow(); // errors of earlier commands must not be reported for this one
    const filters = ["internal", "out-of-memory", "validation"] as const;
    for (const filter of filters) this.#device.pushErrorScope(filter);
    return async () => {
      this.#submitNow();
      const scopes = filters.map(() => this.#device.popErrorScope());
      const errors = await Promise.all(scopes).catch(() => []);
      const error = errors.find((candidate) => candidate !== null);
      if (error) this.#tell(codeOf(error), error.message, command);
      return !error;
    };
  }

  destroy(): void {
    this.#destroyed = true;
    this.#device.destroy();
  }

  #tell(code: CommandError["code"], message: string, command: CommandName): void {
    if (!this.#destroyed) this.#events.failed(code, message, command);
  }

  #slot(id: number): BufferSlot {
    const slot = this.#buffers.get(id);
    if (slot === undefined)
      throw new CommandError(ErrorCode.unknownBuffer, `there is no buffer ${id}`);
    return slot;
  }

  #checkRange(slot: BufferSlot, offset: number, bytes: number): void {
    if (offset % 4 !== 0 || bytes % 4 !== 0 || offset + bytes > slot.bytes)
      throw new CommandError(
        ErrorCode.badRange,
        `bytes ${offset} to ${offset + bytes} of '${slot.label}', which has ${slot.bytes}`,
      );
  }
}

let scratch: SharedArrayBuffer | undefined;

/** Contains the bindings of the executor's own dispatches, in the form of a command. */
function sharedScratch(): SharedArrayBuffer {
  // Not at the start of the script: the agent's thread loads this file too, also where no thread can share memory.
  scratch ??= new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
    .buffer as unknown as SharedArrayBuffer;
  return scratch;
}

function codeOf(error: GPUError): CommandError["code"] {
  switch (error.constructor.name) {
    case "GPUOutOfMemoryError":
      return ErrorCode.outOfMemory;
    case "GPUInternalError":
      return ErrorCode.deviceInternal;
    default:
      return ErrorCode.validation;
  }
}
