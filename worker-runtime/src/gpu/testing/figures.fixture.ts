// Measures the cost of the ring on the issuer's thread. Rounds alternate with rounds of the same work without a ring.
// Runs in Node and in browsers.

import { Word } from "../ring/layout.ts";
import { EMPTY } from "./cases.fixture.ts";
import type { RingWriter } from "./ring_writer.fixture.ts";

const DISPATCHES = 20_000;
const READS = 100;
const ROUNDS = 5;

export interface Figures {
  /**
   * The time from the first dispatch to the end of the fence, divided by the number of empty kernels (20,000), in
   * microseconds; the median of all rounds.
   */
  readonly dispatch_us: number;
  readonly hand_dispatch_us: number;
  /**
   * The time of a fence and a readback of 4 KiB, in milliseconds: the median of 500 measurements. Without a ring, this
   * is a copy, a submit and a mapAsync on one thread.
   */
  readonly readback_ms: number;
  readonly hand_readback_ms: number;
  /** The number of submits for the 20,000 dispatches of one round. */
  readonly submits: number;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

export async function measure(ring: RingWriter, gpu: GPU): Promise<Figures> {
  const hand = await Hand.open(gpu);
  const to = ring.allocate(4096);
  ring.createPipeline(1, EMPTY, "empty", 0, 0, 0);
  ring.createBuffer(1, 4096);
  ring.finish();
  await hand.dispatch(2000);
  const dispatches: number[] = [];
  const byHand: number[] = [];
  const reads: number[] = [];
  const readsByHand: number[] = [];
  let submits = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = ring.load(Word.submits);
    dispatches.push(timed(() => dispatchAll(ring)));
    submits = ring.load(Word.submits) - before;
    byHand.push(await timedAsync(() => hand.dispatch(DISPATCHES)));
    for (let i = 0; i < READS; i += 1)
      reads.push(
        timed(() => {
          ring.append(10, [1, 0, to, 4096]);
          ring.finish();
        }),
      );
    for (let i = 0; i < READS; i += 1) readsByHand.push(await timedAsync(() => hand.read()));
  }
  hand.close();
  return {
    dispatch_us: (median(dispatches) * 1000) / DISPATCHES,
    hand_dispatch_us: (median(byHand) * 1000) / DISPATCHES,
    readback_ms: median(reads),
    hand_readback_ms: median(readsByHand),
    submits,
  };
}

function timed(run: () => void): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

async function timedAsync(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

function dispatchAll(ring: RingWriter): void {
  for (let i = 0; i < DISPATCHES; i += 1) {
    ring.dispatch({ pipeline: 1, grid: [1, 1, 1], bindings: [] });
    if (i % 32 === 31) ring.flush();
  }
  ring.finish();
}

/** Does the measured work without a ring: on one thread, in batches of 1,024 dispatches. */
class Hand {
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #source: GPUBuffer;
  readonly #staging: GPUBuffer;
  readonly #target = new Uint8Array(4096);

  private constructor(device: GPUDevice) {
    this.#device = device;
    const module = device.createShaderModule({ code: EMPTY });
    this.#pipeline = device.createComputePipeline({
      layout: "auto",
      compute: { module, entryPoint: "main" },
    });
    this.#source = device.createBuffer({ size: 4096, usage: 0x4 });
    this.#staging = device.createBuffer({ size: 4096, usage: 0x1 | 0x8 });
  }

  static async open(gpu: GPU): Promise<Hand> {
    const device = await (await gpu.requestAdapter())?.requestDevice();
    if (device === undefined) throw new Error("no adapter");
    return new Hand(device);
  }

  async dispatch(count: number): Promise<void> {
    for (let done = 0; done < count; done += 1024) {
      const encoder = this.#device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(this.#pipeline);
      for (let i = done; i < Math.min(count, done + 1024); i += 1) pass.dispatchWorkgroups(1, 1, 1);
      pass.end();
      this.#device.queue.submit([encoder.finish()]);
    }
    await this.#device.queue.onSubmittedWorkDone();
  }

  async read(): Promise<void> {
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#source, 0, this.#staging, 0, 4096);
    this.#device.queue.submit([encoder.finish()]);
    await this.#staging.mapAsync(0x1);
    this.#target.set(new Uint8Array(this.#staging.getMappedRange()));
    this.#staging.unmap();
  }

  close(): void {
    this.#device.destroy();
  }
}
