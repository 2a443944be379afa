// Records when each dispatch ran, by the device's clock. The pass of each dispatch writes the times at which it began
// and ended. When a batch ends, its times are copied to a buffer, and passed on as records of TRACE_WORDS words. Used
// by the WebGPU executor, on its thread.

import { TRACE_WORDS } from "../ring/layout.ts";

const Usage = { copySrc: 0x4, queryResolve: 0x200 };
const TIME_BYTES = 16; // begin and end

export class DispatchTimes {
  readonly #set: GPUQuerySet | undefined;
  readonly #resolved: GPUBuffer | undefined;
  readonly #count: number;
  readonly #land: (first: number, data: Uint8Array) => void;
  #taken = 0;
  /** The positions and tags of the timed dispatches in the current batch. */
  #batch: number[] = [];

  /**
   * `perBatch` limits the timed dispatches of a batch, `count` those of all batches. If the device has no clock, the
   * times are zeros.
   */
  constructor(
    device: GPUDevice,
    hasClock: boolean,
    perBatch: number,
    count: number,
    land: (first: number, data: Uint8Array) => void,
  ) {
    this.#count = count;
    this.#land = land;
    if (!hasClock) return;
    const label = "times of dispatches";
    this.#set = device.createQuerySet({ label, type: "timestamp", count: 2 * perBatch });
    const usage = Usage.queryResolve | Usage.copySrc;
    this.#resolved = device.createBuffer({ label, size: perBatch * TIME_BYTES, usage });
  }

  /** Whether the next dispatch is timed. */
  get open(): boolean {
    return this.#taken < this.#count;
  }

  /** Returns the compute pass of a timed dispatch. REQUIRES: `open` is true. */
  pass(position: number, tag: number, label: string): GPUComputePassDescriptor {
    const query = this.#batch.length;
    this.#batch.push(position, tag);
    this.#taken += 1;
    if (this.#set === undefined) return { label };
    const timestampWrites = {
      querySet: this.#set,
      beginningOfPassWriteIndex: query,
      endOfPassWriteIndex: query + 1,
    };
    return { label, timestampWrites };
  }

  /** The number of bytes that resolve() copies for the batch; 0 if nothing was timed. */
  get bytes(): number {
    return (this.#batch.length / 2) * TIME_BYTES;
  }

  /** Copies the batch's times. Call the returned function with them when they arrive. REQUIRES: no pass is open. */
  resolve(encoder: GPUCommandEncoder, staging: GPUBuffer): (data: Uint8Array) => void {
    const batch = this.#batch;
    const first = this.#taken - batch.length / 2;
    if (this.#set !== undefined && this.#resolved !== undefined) {
      encoder.resolveQuerySet(this.#set, 0, batch.length, this.#resolved, 0);
      encoder.copyBufferToBuffer(this.#resolved, 0, staging, 0, this.bytes);
    }
    const hasTimes = this.#set !== undefined;
    this.#batch = [];
    return (data) => this.#land(first, records(batch, hasTimes ? data : undefined));
  }

  destroy(): void {
    this.#set?.destroy();
    this.#resolved?.destroy();
  }
}

function records(batch: readonly number[], times: Uint8Array | undefined): Uint8Array {
  const words = new Uint32Array((batch.length / 2) * TRACE_WORDS);
  const clock = times && new Uint32Array(times.buffer, times.byteOffset, batch.length * 2);
  for (let i = 0; i < batch.length / 2; i += 1) {
    words[i * TRACE_WORDS] = batch[2 * i] ?? 0;
    words[i * TRACE_WORDS + 1] = batch[2 * i + 1] ?? 0;
    if (clock) words.set(clock.subarray(4 * i, 4 * i + 4), i * TRACE_WORDS + 2);
  }
  return new Uint8Array(words.buffer);
}
