// The ring's issuer for tests. It encodes commands into shared memory and waits, as array-core's writer does. Runs on the
// test's thread.

import { LIMIT_MS } from "../../../node/patience.ts";
import {
  Backend,
  ErrorCode,
  INTERRUPT_ONCE,
  INTERRUPT_REVOKE,
  MAGIC,
  Opcode,
  SLEEPS_FOR_MESSAGE,
  SLICE_MS,
  START_SILENCE_MS,
  State,
  Word,
} from "../ring/layout.ts";

const CONTROL_ADDRESS = 1024;
const RING_ADDRESS = 4096;
const PAGE = 65536;
const SPINS = 500;

export interface Fault {
  readonly code: string;
  readonly position: number;
  readonly opcode: string;
  readonly tag: number;
  readonly text: string;
}

export class RingError extends Error {
  readonly outcome: string;
  readonly fault: Fault | undefined;

  constructor(outcome: string, fault?: Fault) {
    super(fault === undefined ? outcome : `${outcome}: ${fault.code}: ${fault.text}`);
    this.outcome = outcome;
    this.fault = fault;
  }
}

const nameIn = (names: Record<string, number>, value: number): string =>
  Object.entries(names).find(([, number]) => number === value)?.[0] ?? String(value);

export interface DispatchCommand {
  readonly tag?: number;
  readonly pipeline: number;
  readonly grid: readonly [number, number, number];
  readonly bindings: readonly (readonly [number, number, number])[];
  readonly uniforms?: readonly number[];
}

export interface RingOptions {
  readonly ringWords?: number;
  readonly strict?: boolean;
  readonly pages?: number;
  /** Whether the executor is to have WebGL2. */
  readonly webgl2?: boolean;
}

export class RingWriter {
  readonly memory: WebAssembly.Memory;
  readonly controlAddress = CONTROL_ADDRESS;
  /** The address of the next byte that no test has allocated. */
  #free: number;
  #words: Int32Array<SharedArrayBuffer>;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  #head = 0;
  #fences = 0;
  #resets = 0;
  /** Sends a message that wakes the executor. A test sets this if its executor sleeps for messages. */
  postWake: () => void = () => {
    throw new Error("The executor sleeps for a message and nobody sends it.");
  };
  wakeMessages = 0;

  /** If there is no progress for this time, the executor counts as gone. It is long, because the machine may be busy. */
  silenceMs = LIMIT_MS;

  constructor(options: RingOptions = {}) {
    const ringWords = options.ringWords ?? 65536;
    const pages = options.pages ?? 64 + Math.ceil((ringWords * 4) / PAGE);
    this.memory = new WebAssembly.Memory({ initial: pages, maximum: 4096, shared: true });
    const buffer = this.buffer;
    this.#words = new Int32Array(buffer);
    this.#control = new Int32Array(buffer, CONTROL_ADDRESS);
    this.#mask = ringWords - 1;
    this.#free = RING_ADDRESS + ringWords * 4;
    this.store(Word.ringAddress, RING_ADDRESS);
    this.store(Word.ringWords, ringWords);
    this.store(Word.strict, options.strict ? 1 : 0);
    this.store(Word.wanted, options.webgl2 ? Backend.webgl2 : Backend.none);
    this.store(Word.silenceMs, START_SILENCE_MS);
    this.store(Word.magic, MAGIC);
  }

  get isWebGl2(): boolean {
    return this.load(Word.wanted) === Backend.webgl2;
  }

  get buffer(): SharedArrayBuffer {
    return this.memory.buffer as unknown as SharedArrayBuffer;
  }

  load(word: number): number {
    return Atomics.load(this.#control, word) >>> 0;
  }

  store(word: number, value: number): void {
    Atomics.store(this.#control, word, value | 0);
  }

  /** Returns the address of `bytes` unused bytes of the memory, a multiple of 8. */
  allocate(bytes: number): number {
    const address = this.#free;
    this.#free = Math.ceil((address + bytes) / 8) * 8;
    const missing = this.#free - this.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    return address;
  }

  bytes(address: number, length: number): Uint8Array<SharedArrayBuffer> {
    return new Uint8Array(this.buffer, address, length);
  }

  floats(address: number, length: number): Float32Array<SharedArrayBuffer> {
    return new Float32Array(this.buffer, address, length);
  }

  put(data: Uint8Array): number {
    const address = this.allocate(data.length);
    this.bytes(address, data.length).set(data);
    return address;
  }

  text(text: string): [address: number, bytes: number] {
    const bytes = new TextEncoder().encode(text);
    return [this.put(bytes), bytes.length];
  }

  // ---- functions that append commands ---------------------------------------------------------

  /** Appends a command and returns its position. */
  append(opcode: number, operands: readonly number[]): number {
    const words = operands.length + 1;
    const untilEnd = this.#mask + 1 - (this.#head & this.#mask);
    const padding = words > untilEnd ? untilEnd : 0;
    this.#room(words + padding);
    if (padding > 0) {
      this.#put(0, Opcode.pad | (padding << 8));
      this.#head = (this.#head + padding) >>> 0;
    }
    const position = this.#head;
    this.#put(0, opcode | (words << 8));
    operands.forEach((operand, i) => {
      this.#put(i + 1, operand);
    });
    this.#head = (this.#head + words) >>> 0;
    return position;
  }

  #put(i: number, value: number): void {
    this.#words[RING_ADDRESS / 4 + ((this.#head + i) & this.#mask)] = value | 0;
  }

  createBuffer(id: number, bytes: number, label = `buffer ${id}`): number {
    return this.append(Opcode.createBuffer, [id, bytes, ...this.text(label)]);
  }

  createPipeline(
    id: number,
    text: string,
    label: string,
    uniformBytes: number,
    bindings: number,
    readWriteMask: number,
  ): number {
    return this.append(Opcode.createPipeline, [
      id,
      ...this.text(text),
      ...this.text(label),
      uniformBytes,
      bindings,
      readWriteMask,
    ]);
  }

  dispatch({ tag = 0, pipeline, grid, bindings, uniforms = [] }: DispatchCommand): number {
    return this.append(Opcode.dispatch, [
      tag,
      pipeline,
      ...grid,
      bindings.length | (uniforms.length << 16),
      ...bindings.flat(),
      ...uniforms,
    ]);
  }

  fence(): number {
    this.#fences += 1;
    this.append(Opcode.fence, [this.#fences]);
    return this.#fences;
  }

  // ---- functions that wait --------------------------------------------------------------------

  flush(): void {
    this.store(Word.written, this.#head);
    this.#wakeExecutor();
  }

  #wakeExecutor(): void {
    if (this.load(Word.sleeps) === 0) return;
    const slept = Atomics.exchange(this.#control, Word.sleeps, 0);
    if (slept === SLEEPS_FOR_MESSAGE) {
      this.wakeMessages += 1;
      this.postWake();
    } else if (slept !== 0) {
      Atomics.notify(this.#control, Word.sleeps);
    }
  }

  #room(words: number): void {
    const hasRoom = () => ((this.#head - this.load(Word.consumed)) >>> 0) + words <= this.#mask + 1;
    if (hasRoom()) return;
    this.flush();
    this.#waitUntil(hasRoom, LIMIT_MS);
  }

  /** Appends a fence, flushes, and waits for the fence. Throws a RingError. */
  finish(timeoutMs = LIMIT_MS): void {
    const fence = this.fence();
    this.flush();
    this.waitFence(fence, timeoutMs);
  }

  isReached(fence: number): boolean {
    return ((this.load(Word.fenceDone) - fence) | 0) >= 0;
  }

  waitFence(fence: number, timeoutMs = LIMIT_MS): void {
    this.#waitUntil(() => this.isReached(fence), timeoutMs);
  }

  /** Does what waitFence does if the executor runs on this thread: it calls `pump` instead of sleeping. */
  async waitFenceInProcess(
    fence: number,
    pump: (seen: number, timeoutMs: number) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      const seen = this.load(Word.signal);
      if (this.#look(() => this.isReached(fence))) return;
      await pump(seen, SLICE_MS);
    }
  }

  #waitUntil(isMet: () => boolean, timeoutMs: number): void {
    const deadline = performance.now() + timeoutMs;
    let progress = this.load(Word.progress);
    let movedAt = performance.now();
    for (;;) {
      const seen = this.load(Word.signal);
      if (this.#look(isMet)) return;
      const now = performance.now();
      if (this.load(Word.progress) !== progress) {
        progress = this.load(Word.progress);
        movedAt = now;
      }
      if (now > deadline) throw new RingError("timed_out");
      if (now - movedAt > (this.load(Word.silenceMs) || this.silenceMs))
        throw new RingError("executor_gone");
      // Most answers arrive faster than a thread can fall asleep, so this thread polls first.
      for (let i = 0; i < SPINS && this.load(Word.signal) === seen; i += 1);
      Atomics.wait(this.#control, Word.signal, seen | 0, SLICE_MS);
    }
  }

  // Checks in the order of array-core's ring/state.h: an interrupt, the condition of the wait, the state, the error
  // slot.
  #look(isMet: () => boolean): boolean {
    const interrupt = this.load(Word.interrupt);
    if (interrupt === INTERRUPT_REVOKE) throw new RingError("revoked");
    if (interrupt === INTERRUPT_ONCE) {
      Atomics.compareExchange(this.#control, Word.interrupt, INTERRUPT_ONCE, 0);
      throw new RingError("interrupted");
    }
    const met = isMet();
    const state = this.load(Word.state);
    if (state === State.lost) throw new RingError("device_lost", this.takeFault());
    if (state === State.gone) throw new RingError("executor_gone");
    if (state === State.closed) throw new RingError("closed");
    const fault = this.takeFault();
    if (fault !== undefined) throw new RingError("error", fault);
    return met;
  }

  takeFault(): Fault | undefined {
    if (this.load(Word.errorFull) === 0) return undefined;
    const bytes = this.bytes(
      CONTROL_ADDRESS + Word.errorText * 4,
      this.load(Word.errorTextBytes),
    ).slice();
    const fault = {
      code: nameIn(ErrorCode, this.load(Word.errorCode)),
      position: this.load(Word.errorPosition),
      opcode: nameIn(Opcode, this.load(Word.errorOpcode)),
      tag: this.load(Word.errorTag),
      text: new TextDecoder().decode(bytes),
    };
    this.store(Word.errorFull, 0);
    return fault;
  }

  askReset(): number {
    this.store(Word.errorFull, 0);
    this.store(Word.written, this.#head);
    this.#resets += 1;
    this.store(Word.request, this.#resets);
    this.#wakeExecutor();
    return this.#resets;
  }

  reset(timeoutMs = LIMIT_MS): void {
    const reset = this.askReset();
    const deadline = performance.now() + timeoutMs;
    while (this.load(Word.answered) !== reset) {
      const seen = this.load(Word.signal);
      if (this.load(Word.answered) === reset) break;
      if (performance.now() > deadline) throw new RingError("timed_out");
      Atomics.wait(this.#control, Word.signal, seen | 0, SLICE_MS);
    }
    if (this.load(Word.state) === State.lost) throw new RingError("device_lost", this.takeFault());
  }

  close(): void {
    this.store(Word.written, this.#head);
    this.store(Word.request, -1);
    this.#wakeExecutor();
  }

  /** The lines of the text that describes the device, as in the capability record. */
  device(): string[] {
    const bytes = this.bytes(
      CONTROL_ADDRESS + Word.deviceText * 4,
      this.load(Word.deviceTextBytes),
    ).slice();
    return new TextDecoder().decode(bytes).split("\n");
  }
}
