// Buffers for results. The device copies results into a buffer, which is then mapped, read, and reused. The number of
// buffers is limited. Runs on its executor's thread.

const MAP_READ = 0x1;
const COPY_DST = 0x8;
const SMALLEST = 4096;
/** Buffers that are larger than this are not kept. */
const KEPT_BYTES = 16 * 2 ** 20;
const KEPT_IN_ALL = 32 * 2 ** 20;

export interface Landing {
  readonly staging: GPUBuffer;
  readonly bytes: number;
  readonly land: (data: Uint8Array) => void;
}

export class Readback {
  readonly #device: GPUDevice;
  readonly #free: GPUBuffer[] = [];
  #freeBytes = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Returns a buffer of at least `bytes` bytes, rounded up to whole words. */
  take(bytes: number): GPUBuffer {
    const index = this.#free.findIndex((buffer) => fits(buffer.size, bytes));
    const [kept] = index >= 0 ? this.#free.splice(index, 1) : [];
    if (kept !== undefined) {
      this.#freeBytes -= kept.size;
      return kept;
    }
    const size = bytes > KEPT_BYTES ? bytes : Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)));
    return this.#device.createBuffer({ label: "readback", size, usage: MAP_READ | COPY_DST });
  }

  /** Passes on the bytes when they arrive. Call it after the submit that fills the buffers. */
  async land({ staging, bytes, land }: Landing): Promise<void> {
    await staging.mapAsync(MAP_READ, 0, Math.ceil(bytes / 4) * 4);
    land(new Uint8Array(staging.getMappedRange(0, Math.ceil(bytes / 4) * 4), 0, bytes));
    staging.unmap();
    if (staging.size > KEPT_BYTES || this.#freeBytes + staging.size > KEPT_IN_ALL) {
      staging.destroy();
    } else {
      this.#free.push(staging);
      this.#freeBytes += staging.size;
    }
  }
}

const fits = (size: number, bytes: number): boolean =>
  size >= bytes && (size === SMALLEST || size < bytes * 2);
