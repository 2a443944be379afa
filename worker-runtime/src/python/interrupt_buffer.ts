// The interrupt buffer that Pyodide reads: one byte, which another thread may set. Python thread.

import { INTERRUPT_SIGNAL } from "../channel/block.ts";

/**
 * Pyodide's interrupt buffer without a race. Pyodide reads element 0 and then writes 0 to it, in two steps. With a plain
 * Uint8Array, a signal that another thread stores between the two steps is lost. Here, writing 0 clears only the signal
 * that was read last.
 */
export class InterruptBuffer {
  readonly #bytes: Uint8Array;
  readonly #beforeRead: () => void;
  #lastRead = 0;

  /**
   * `bytes` has one element. Other threads store the number of a signal there with `Atomics`. Pyodide reads the buffer
   * between bytecodes, often; `beforeRead` is called before each read and may block.
   */
  constructor(bytes: Uint8Array, beforeRead: () => void = () => {}) {
    this.#bytes = bytes;
    this.#beforeRead = beforeRead;
  }

  get 0(): number {
    this.#beforeRead();
    this.#lastRead = Atomics.load(this.#bytes, 0);
    return this.#lastRead;
  }

  set 0(signal: number) {
    if (signal !== 0) Atomics.store(this.#bytes, 0, signal);
    else if (this.#lastRead !== 0) Atomics.compareExchange(this.#bytes, 0, this.#lastRead, 0);
  }

  /** Requests a KeyboardInterrupt in Python. */
  raise(): void {
    Atomics.store(this.#bytes, 0, INTERRUPT_SIGNAL);
  }

  /** Clears the buffer, and returns whether it contained a signal. */
  take(): boolean {
    return Atomics.exchange(this.#bytes, 0, 0) !== 0;
  }
}
