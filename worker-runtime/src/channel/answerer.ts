// The agent's end of the call channel. Runs on the agent thread only; never blocks.

import type { AgentEnd, Reference } from "./agent_end.ts";
import { type Block, boundedAnswer, INTERRUPT_SIGNAL, PARK_WANTED, PARKED, Word } from "./block.ts";

export class Answerer implements AgentEnd {
  readonly #block: Block;
  readonly #encoder = new TextEncoder();

  constructor(block: Block) {
    this.#block = block;
  }

  get memory(): SharedArrayBuffer {
    return this.#block.memory;
  }

  /** The counter that grows while Python makes progress, as an unsigned number. */
  get progress(): number {
    return Atomics.load(this.#block.header, Word.progress) >>> 0;
  }

  get reference(): Reference | null {
    const { header } = this.#block;
    const number = Atomics.load(header, Word.references);
    return number === 0 ? null : { number, us: Atomics.load(header, Word.referenceUs) };
  }

  /** Answers the open request. Returns false if no caller waits for this sequence number any more. */
  answer(sequence: number, text: string): boolean {
    const { header, payload } = this.#block;
    // The request is claimed before the answer is written. Otherwise a caller that gives up at this moment could make a
    // new request while the space for answers is being written.
    if (Atomics.compareExchange(header, Word.request, sequence, -sequence) !== sequence)
      return false;
    const bytes = this.#encoder.encode(boundedAnswer(text));
    payload.set(bytes);
    Atomics.store(header, Word.length, bytes.length);
    Atomics.store(header, Word.request, 0);
    Atomics.store(header, Word.answer, sequence);
    Atomics.notify(header, Word.answer);
    return true;
  }

  /** Makes Python raise KeyboardInterrupt at its next bytecode or call, and wakes it if it waits. */
  interrupt(): void {
    Atomics.store(this.#block.header, Word.interrupt, INTERRUPT_SIGNAL);
    Atomics.notify(this.#block.header, Word.answer);
    Atomics.notify(this.#block.header, Word.taken);
    Atomics.notify(this.#block.header, Word.lent);
    // A thread that is to end must not be parked again before it has ended.
    this.setParked(false);
  }

  get isParked(): boolean {
    return Atomics.load(this.#block.header, Word.park) === PARKED;
  }

  setParked(wanted: boolean): void {
    const { header } = this.#block;
    if (wanted) {
      Atomics.compareExchange(header, Word.park, 0, PARK_WANTED);
    } else {
      Atomics.store(header, Word.park, 0);
      Atomics.notify(header, Word.park);
    }
  }

  setLeaving(isLeaving: boolean): void {
    Atomics.store(this.#block.header, Word.leaving, isLeaving ? 1 : 0);
  }

  /** Sets the part of the processor's time that is lent, above 0 and at most 1. It takes effect at once. */
  setLent(share: number): void {
    Atomics.store(this.#block.header, Word.lent, Math.round(share * 100));
    Atomics.notify(this.#block.header, Word.lent);
  }

  /** Clears counters and interrupts of the previous attempt. Call it before an attempt starts. */
  reset(): void {
    Atomics.store(this.#block.header, Word.interrupt, 0);
    Atomics.store(this.#block.header, Word.taken, 0);
    this.setLeaving(false);
  }

  /** Sets how many of the attempt's points and rows the server has. */
  setTaken(points: number): void {
    Atomics.store(this.#block.header, Word.taken, points);
    Atomics.notify(this.#block.header, Word.taken);
  }
}
