// A gpu thread with hooks, for tests and benchmarks. A hook makes WebGPU or WebGL2 fail, or measures a readback without
// the ring.
// Runs on the gpu thread, in Node and in browsers.

import type { FromGpuThread, ToGpuThread } from "../thread/gpu_messages.ts";
import { GpuService } from "../thread/gpu_service.ts";
import { FaultyContexts } from "./faulty_contexts.fixture.ts";

/** A fault to cause, or a measurement to make. */
export type GpuHook =
  /** The next `count` requests for an adapter or a context get null. */
  | { readonly kind: "refuse_adapters"; readonly count: number }
  /** The device is lost. The next `refuse` requests for an adapter or a context get null. */
  | { readonly kind: "destroy_device"; readonly refuse: number }
  /** The next `count` shaders do not compile. */
  | { readonly kind: "break_shaders"; readonly count: number }
  /** For `ms` milliseconds the device does not report that its work is done, as if a kernel were running. */
  | { readonly kind: "stall"; readonly ms: number }
  /** For `ms` milliseconds the thread does not answer. */
  | { readonly kind: "hang"; readonly ms: number }
  /** Fills `times` with the durations, in us, of readbacks of 4 bytes from array-core's device without the ring. */
  | { readonly kind: "read_by_hand"; readonly times: Float64Array };

export interface HookMessage {
  readonly kind: "hook";
  readonly hook: GpuHook;
  /** One word of shared memory. It becomes 1 when the hook is in effect. */
  readonly done?: Int32Array;
}

export type ToHookedThread = ToGpuThread | HookMessage;

export function tellDone(done: Int32Array | undefined): void {
  if (done === undefined) return;
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}

export class HookedGpuThread {
  readonly #gpu: GPU;
  readonly #service: GpuService;
  #refused = 0;
  #broken = 0;
  #stalledUntil = 0;
  #newest: GPUDevice | undefined;
  readonly #contexts = new FaultyContexts();

  constructor(gpu: GPU, post: (message: FromGpuThread) => void) {
    this.#gpu = gpu;
    this.#service = new GpuService(this.#faulty(), post);
  }

  receive(message: ToHookedThread): void {
    if (message.kind === "hook") void this.#apply(message.hook, message.done);
    else this.#service.receive(message);
  }

  async #apply(hook: GpuHook, done: Int32Array | undefined): Promise<void> {
    if (hook.kind === "hang") tellDone(done); // before the hang, during which the thread answers nothing
    await this.#do(hook);
    tellDone(done);
  }

  async #do(hook: GpuHook): Promise<void> {
    switch (hook.kind) {
      case "refuse_adapters":
        this.#refused = hook.count;
        this.#contexts.refused = hook.count;
        return;
      case "destroy_device":
        this.#refused = hook.refuse;
        this.#contexts.refused = hook.refuse;
        this.#newest?.destroy();
        await this.#newest?.lost;
        await this.#contexts.lose();
        return;
      case "break_shaders":
        this.#broken = hook.count;
        this.#contexts.broken = hook.count;
        return;
      case "stall":
        this.#stalledUntil = performance.now() + hook.ms;
        this.#contexts.stalledUntil = this.#stalledUntil;
        return;
      case "hang": {
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
        Atomics.wait(new Int32Array(memory.buffer), 0, 0, hook.ms);
        return;
      }
      case "read_by_hand":
        // A driver may serve one device of a process faster than another, so both measurements use the same device.
        if (this.#newest === undefined) throw new Error("There is no device yet.");
        await new HandReader(this.#newest).measure(hook.times);
        return;
      default:
        hook satisfies never;
    }
  }

  #faulty(): GPU {
    const requestAdapter = async (
      options: GPURequestAdapterOptions,
    ): Promise<GPUAdapter | null> => {
      if (this.#refused > 0) {
        this.#refused -= 1;
        return null;
      }
      const adapter = await this.#gpu.requestAdapter(options);
      if (adapter === null) return null;
      const requestDevice = adapter.requestDevice.bind(adapter);
      adapter.requestDevice = async (descriptor) => this.#prepare(await requestDevice(descriptor));
      return adapter;
    };
    return { requestAdapter } as unknown as GPU;
  }

  #prepare(device: GPUDevice): GPUDevice {
    // The stall stands for a kernel of the old device. It does not delay the new device.
    if (this.#newest !== undefined) this.#stalledUntil = 0;
    this.#newest = device;
    const createShaderModule = device.createShaderModule.bind(device);
    device.createShaderModule = (descriptor) => {
      if (this.#broken === 0) return createShaderModule(descriptor);
      this.#broken -= 1;
      return createShaderModule({ ...descriptor, code: `${descriptor.code}\nthis is no WGSL` });
    };
    const createBuffer = device.createBuffer.bind(device);
    device.createBuffer = (descriptor) => {
      const buffer = createBuffer(descriptor);
      const mapAsync = buffer.mapAsync.bind(buffer);
      buffer.mapAsync = (...range) => this.#delayed(() => mapAsync(...range));
      return buffer;
    };
    const done = device.queue.onSubmittedWorkDone.bind(device.queue);
    device.queue.onSubmittedWorkDone = () => this.#delayed(done);
    return device;
  }

  #delayed<T>(act: () => Promise<T>): Promise<T> {
    const ms = this.#stalledUntil - performance.now();
    if (ms <= 0) return act();
    return new Promise((resolve, reject) => {
      setTimeout(() => act().then(resolve, reject), ms);
    });
  }
}

/** Reads one element without the ring: on one thread, with a staging buffer that is reused. */
class HandReader {
  readonly #device: GPUDevice;
  readonly #source: GPUBuffer;
  readonly #staging: GPUBuffer;
  readonly #element = new Uint8Array(4);

  constructor(device: GPUDevice) {
    this.#device = device;
    this.#source = device.createBuffer({ size: 4096, usage: 0x4 });
    this.#staging = device.createBuffer({ size: 4, usage: 0x1 | 0x8 });
  }

  async measure(times: Float64Array): Promise<void> {
    for (let i = 0; i < times.length; i += 1) {
      const began = performance.now();
      await this.#read();
      times[i] = (performance.now() - began) * 1000;
    }
    this.#source.destroy();
    this.#staging.destroy();
  }

  async #read(): Promise<void> {
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#source, 0, this.#staging, 0, 4);
    this.#device.queue.submit([encoder.finish()]);
    await this.#staging.mapAsync(0x1, 0, 4);
    this.#element.set(new Uint8Array(this.#staging.getMappedRange(0, 4)));
    this.#staging.unmap();
  }
}
