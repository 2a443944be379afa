// The executor's access to the ring's control block: atomic words, the error slot and the device's capabilities. The
// thread that takes commands from the ring uses it. `markGone` and `interrupt` are for the threads that own the
// executor's thread or the issuer's thread. (The issuer is array-core, which writes commands.)

import type { Capabilities, CommandName, Counters } from "./executor.ts";
import {
  CONTROL_WORDS,
  DEVICE_TEXT_BYTES,
  ERROR_TEXT_BYTES,
  INTERRUPT_ONCE,
  INTERRUPT_REVOKE,
  MAGIC,
  NO_POSITION,
  State,
  Word,
} from "./layout.ts";

const LARGEST_SIZE = 0xfffffffc;

/** Returns the current buffer of the shared memory, which changes when the memory grows. */
export function sharedBuffer(memory: WebAssembly.Memory): SharedArrayBuffer {
  return memory.buffer as unknown as SharedArrayBuffer;
}

export class Control {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #encoder = new TextEncoder();
  /** Called at each signal, for an issuer that runs on this thread and cannot be woken by `Atomics.notify`. */
  onSignal: (() => void) | undefined;

  constructor(memory: WebAssembly.Memory, address: number) {
    this.#words = new Int32Array(sharedBuffer(memory), address, CONTROL_WORDS);
    if (this.load(Word.magic) !== MAGIC)
      throw new Error("This is not a control block of the ring's version.");
  }

  load(word: number): number {
    return Atomics.load(this.#words, word) >>> 0;
  }

  store(word: number, value: number): void {
    Atomics.store(this.#words, word, value | 0);
  }

  add(word: number, value: number): void {
    Atomics.add(this.#words, word, value | 0);
  }

  /** Wakes a waiting issuer after a change. */
  signal(): void {
    Atomics.add(this.#words, Word.signal, 1);
    Atomics.notify(this.#words, Word.signal);
    this.onSignal?.();
  }

  /** Wakes a waiting issuer in advance: the change that it waits for will come soon. */
  rouse(): void {
    Atomics.notify(this.#words, Word.signal);
  }

  /** Resolves at once if `word` is not `value`, else when a notification shows another value, or after `timeoutMs`. */
  async changed(word: number, value: number, timeoutMs: number): Promise<void> {
    const waiting = Atomics.waitAsync(this.#words, word, value | 0, timeoutMs);
    if (waiting.async) await waiting.value;
  }

  /** Blocks while `word` is `value`, for at most `timeoutMs`. Returns whether it has changed. */
  blocks(word: number, value: number, timeoutMs: number): boolean {
    return Atomics.wait(this.#words, word, value | 0, timeoutMs) !== "timed-out";
  }

  /** Fills the error slot, unless the slot has an error that was not read yet. */
  putError(code: number, message: string, command: CommandName | undefined): void {
    if (this.load(Word.errorFull) !== 0) {
      this.add(Word.errorsDropped, 1);
      return;
    }
    this.store(Word.errorCode, code);
    this.store(Word.errorPosition, command?.position ?? NO_POSITION);
    this.store(Word.errorOpcode, command?.opcode ?? 0);
    this.store(Word.errorTag, command?.tag ?? 0);
    this.store(
      Word.errorTextBytes,
      this.#putText(Word.errorText, message.replaceAll("\0", " "), ERROR_TEXT_BYTES),
    );
    this.store(Word.errorFull, 1);
  }

  putCapabilities(capabilities: Capabilities): void {
    const size = (bytes: number) => Math.min(bytes, LARGEST_SIZE);
    this.store(Word.backend, capabilities.backend);
    this.store(Word.capabilityFlags, capabilities.flags);
    this.store(Word.maxBufferBytes, size(capabilities.maxBufferBytes));
    this.store(Word.maxBindingBytes, size(capabilities.maxBindingBytes));
    this.store(Word.maxStorageBuffers, capabilities.maxStorageBuffers);
    this.store(Word.maxWorkgroupBytes, capabilities.maxWorkgroupBytes);
    this.store(Word.maxInvocations, capabilities.maxInvocations);
    this.store(Word.maxWorkgroupX, capabilities.maxWorkgroupX);
    this.store(Word.maxWorkgroupY, capabilities.maxWorkgroupY);
    this.store(Word.maxWorkgroupZ, capabilities.maxWorkgroupZ);
    this.store(Word.maxGrid, capabilities.maxGrid);
    this.store(Word.maxUniformBytes, capabilities.maxUniformBytes);
    this.store(Word.minSubgroup, capabilities.minSubgroup);
    this.store(Word.maxSubgroup, capabilities.maxSubgroup);
    this.store(
      Word.deviceTextBytes,
      this.#putText(Word.deviceText, capabilities.device, DEVICE_TEXT_BYTES),
    );
  }

  putCounters(counters: Counters): void {
    this.store(Word.dispatches, counters.dispatches);
    this.store(Word.submits, counters.submits);
    this.store(Word.pipelinesCreated, counters.pipelinesCreated);
    this.store(Word.bindGroupsCreated, counters.bindGroupsCreated);
    this.#putLong(Word.bytesUp, counters.bytesUp);
    this.#putLong(Word.bytesDown, counters.bytesDown);
    this.store(Word.buffersLive, counters.buffersLive);
    this.#putLong(Word.bufferBytesLive, counters.bufferBytesLive);
  }

  #putLong(word: number, value: number): void {
    this.store(word, value % 2 ** 32);
    this.store(word + 1, Math.floor(value / 2 ** 32));
  }

  // Writes a text, cut to `limit` bytes at the end of a character. TextEncoder.encodeInto refuses shared views.
  #putText(word: number, text: string, limit: number): number {
    const bytes = new Uint8Array(limit);
    const { written } = this.#encoder.encodeInto(text, bytes);
    const words = new Int32Array(bytes.buffer, 0, Math.ceil(written / 4));
    words.forEach((value, i) => {
      this.store(word + i, value);
    });
    return written;
  }
}

/** Returns the control block at `address`, or undefined if its issuer has closed it. Then its memory may be reused. */
export function controlAt(memory: WebAssembly.Memory, address: number): Control | undefined {
  const words = new Int32Array(sharedBuffer(memory), address, CONTROL_WORDS);
  return Atomics.load(words, Word.magic) === MAGIC ? new Control(memory, address) : undefined;
}

/** Informs waiting issuers that the executor's thread has ended. For the owner of that thread. */
export function markGone(memory: WebAssembly.Memory, address: number): void {
  const control = controlAt(memory, address);
  if (control === undefined || control.load(Word.state) === State.closed) return;
  control.store(Word.state, State.gone);
  control.signal();
}

/** Ends the issuer's wait. A revoke also ends all later waits. Any thread. */
export function interrupt(
  memory: WebAssembly.Memory,
  address: number,
  kind: "once" | "revoke",
): void {
  const control = controlAt(memory, address);
  if (control === undefined) return;
  control.store(Word.interrupt, kind === "once" ? INTERRUPT_ONCE : INTERRUPT_REVOKE);
  control.signal();
}
