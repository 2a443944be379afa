// The interface between the ring's drain and a device's programming interface: WebGPU or WebGL2. An Executor
// identifies buffers and pipelines by number, and knows nothing of arrays. It lives on the thread that drains the ring.
// No other thread may use its device.

import type { ErrorCode } from "./layout.ts";

export type Code = (typeof ErrorCode)[keyof typeof ErrorCode];

/** Thrown for a command that the device cannot execute. The drain adds the command's name. */
export class CommandError extends Error {
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.name = "CommandError";
    this.code = code;
  }
}

/** The command that is being executed, or the one to which an error belongs. */
export interface CommandName {
  readonly position: number;
  readonly opcode: number;
  readonly tag: number;
  /** The newest `label` command's text. */
  readonly label: string;
}

/** The calls that an executor makes to the drain. */
export interface DeviceEvents {
  /** Returns the command that is being executed. */
  current(): CommandName;
  /** Reports an error. `command` is undefined if no single command caused it. */
  failed(code: Code, message: string, command: CommandName | undefined): void;
  lost(message: string): void;
}

export interface DeviceLimits {
  readonly maxBufferBytes: number;
  readonly maxBindingBytes: number;
  readonly maxStorageBuffers: number;
  readonly maxWorkgroupBytes: number;
  readonly maxInvocations: number;
  readonly maxWorkgroupX: number;
  readonly maxWorkgroupY: number;
  readonly maxWorkgroupZ: number;
  readonly maxGrid: number;
  readonly maxUniformBytes: number;
}

export interface Capabilities extends DeviceLimits {
  readonly backend: number;
  /** The bits of Capability that the device has. */
  readonly flags: number;
  readonly minSubgroup: number;
  readonly maxSubgroup: number;
  /** Vendor, architecture, device and description, one on each line. */
  readonly device: string;
}

export interface PipelineSpec {
  readonly text: string;
  readonly label: string;
  readonly uniformBytes: number;
  readonly bindings: number;
  /** If bit i is set, binding i is read_write. */
  readonly readWriteMask: number;
}

/** Counters that the executor keeps; the drain copies them into the control block. */
export interface Counters {
  dispatches: number;
  submits: number;
  pipelinesCreated: number;
  bindGroupsCreated: number;
  bytesUp: number;
  bytesDown: number;
  buffersLive: number;
  bufferBytesLive: number;
}

export const noCounters = (): Counters => ({
  dispatches: 0,
  submits: 0,
  pipelinesCreated: 0,
  bindGroupsCreated: 0,
  bytesUp: 0,
  bytesDown: 0,
  buffersLive: 0,
  bufferBytesLive: 0,
});

/**
 * Executes the ring's commands on a device. A method throws a CommandError if it refuses a command, which then has no
 * effect. If a method returns a promise, wait for it before the next command.
 */
export interface Executor {
  readonly capabilities: Capabilities;
  readonly counters: Counters;
  createBuffer(id: number, bytes: number, label: string): Promise<void> | undefined;
  destroyBuffer(id: number): void;
  upload(id: number, offset: number, source: Uint8Array<SharedArrayBuffer>): void;
  copy(source: number, from: number, target: number, to: number, bytes: number): void;
  /** Fills bytes with a value. If it returns a promise, nothing was done yet: wait for it and call again. */
  fill(id: number, offset: number, bytes: number, value: number): Promise<void> | undefined;
  createPipeline(id: number, spec: PipelineSpec): void;
  destroyPipeline(id: number): void;
  /** Dispatches with the operands in `words` from index `at` on. If it returns a promise, wait and call again. */
  dispatch(words: Uint32Array<SharedArrayBuffer>, at: number): Promise<void> | undefined;
  /** Reads bytes and calls `land` with them, before the next fence is reached. */
  read(id: number, offset: number, bytes: number, land: (data: Uint8Array) => void): void;
  /** Calls `reached` when all earlier commands are done and all reads have landed. Fences are reached in order. */
  fence(reached: () => void): void;
  timestampBegin(): void;
  timestampEnd(land: (data: Uint8Array) => void): void;
  /**
   * Times each of the next `count` dispatches separately; 0 stops this. Before the next fence is reached, `land` is
   * called with the times of consecutive dispatches: TRACE_WORDS for each. `first` is the index of the first of these
   * dispatches, counted from 0.
   */
  trace(count: number, land: (first: number, data: Uint8Array) => void): void;
  /** Submits the batch to the device. Returns a promise if so much is queued that the caller should wait. */
  submit(): Promise<void> | undefined;
  /** Makes the device poll for finished work, for devices that rarely do so by themselves. */
  nudge(): void;
  /** Begins to watch for errors. The returned function submits, reports errors, and returns whether there were none. */
  watch(): () => Promise<boolean>;
  /** Destroys the device and its objects. It makes no calls to the drain afterwards. */
  destroy(): void;
}

export type OpenExecutor = (events: DeviceEvents) => Promise<Executor>;
