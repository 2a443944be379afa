// Reads and writes the memory of array-core's module for an executor. It checks ranges and renews its views when the
// memory grows. Runs on the thread that takes commands from the ring.

import { sharedBuffer } from "./control.ts";
import { CommandError } from "./executor.ts";
import { ErrorCode } from "./layout.ts";

export class ModuleMemory {
  readonly #memory: WebAssembly.Memory;
  readonly #decoder = new TextDecoder();
  #words: Uint32Array<SharedArrayBuffer>;
  #bytes: Uint8Array<SharedArrayBuffer>;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#words = new Uint32Array(sharedBuffer(memory));
    this.#bytes = new Uint8Array(sharedBuffer(memory));
  }

  get words(): Uint32Array<SharedArrayBuffer> {
    return this.#words;
  }

  /** Renews the views, which do not grow with the memory. Call it for each batch. */
  refresh(): void {
    const buffer = sharedBuffer(this.#memory);
    if (buffer === this.#bytes.buffer && buffer.byteLength === this.#bytes.length) return;
    this.#words = new Uint32Array(buffer);
    this.#bytes = new Uint8Array(buffer);
  }

  view(address: number, bytes: number): Uint8Array<SharedArrayBuffer> {
    if (address + bytes > this.#bytes.length) {
      // Another thread may have grown the memory. Growing by 0 makes that visible on this thread.
      this.#memory.grow(0);
      this.refresh();
    }
    if (address + bytes > this.#bytes.length)
      throw new CommandError(
        ErrorCode.badAddress,
        `bytes ${address} to ${address + bytes} lie outside the memory`,
      );
    return this.#bytes.subarray(address, address + bytes);
  }

  /** Returns a text. It decodes a copy, because TextDecoder refuses views of shared memory. */
  text(address: number, bytes: number): string {
    return this.#decoder.decode(this.view(address, bytes).slice());
  }

  /** Writes bytes from the device to the address that the command named. */
  land(address: number, data: Uint8Array): void {
    this.view(address, data.length).set(data);
  }
}
