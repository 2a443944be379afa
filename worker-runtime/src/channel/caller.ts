// The python thread's end of the call channel: posts a request and blocks until the agent has answered in shared memory.
// Runs on the python thread only. Every wait is cut into slices, so that an interrupt or a deadline is seen in time.

import { type Block, errorText, nextSequence, Word } from "./block.ts";

const SLICE_MS = 50;
/** An agent that is still running finishes writing an answer within this time. */
const WRITING_MS = 1_000;

export interface CallRequest {
  readonly sequence: number;
  readonly method: string;
  /** JSON text of the arguments. */
  readonly payload: string;
}

export interface CallerOptions {
  readonly block: Block;
  readonly post: (request: CallRequest) => void;
  /** Throws if an interrupt was requested. */
  readonly checkInterrupt: () => void;
}

export class Caller {
  readonly #block: Block;
  readonly #post: (request: CallRequest) => void;
  readonly #checkInterrupt: () => void;
  readonly #decoder = new TextDecoder();
  #sequence = 0;

  constructor(options: CallerOptions) {
    this.#block = options.block;
    this.#post = options.post;
    this.#checkInterrupt = options.checkInterrupt;
  }

  /** Makes a call and waits for the answer. Returns its JSON text, or `call_timeout` after `timeoutMs`. */
  call(method: string, payload: string, timeoutMs: number): string {
    return this.ask(method, (sequence) => this.#post({ sequence, method, payload }), timeoutMs);
  }

  /** Does the same as `call` with a request that `post` sends under the given sequence number. */
  ask(method: string, post: (sequence: number) => void, timeoutMs: number): string {
    const { header } = this.#block;
    this.#sequence = nextSequence(this.#sequence);
    const sequence = this.#sequence;
    Atomics.store(header, Word.request, sequence);
    post(sequence);
    try {
      const answered = waitUntil(
        header,
        Word.answer,
        (answer) => answer === sequence,
        timeoutMs,
        this.#checkInterrupt,
      );
      // If the agent has begun to write an answer, this thread waits until the answer is complete.
      if (answered || (!this.#withdraw(sequence) && this.#waitForWriting(sequence))) {
        return this.#read();
      }
      return errorText("call_timeout", `The server did not answer '${method}' in time.`);
    } finally {
      this.#withdraw(sequence);
    }
  }

  // Withdraws the request, so that a late answer finds no request. Returns false if the agent has begun to write.
  #withdraw(sequence: number): boolean {
    return Atomics.compareExchange(this.#block.header, Word.request, sequence, 0) === sequence;
  }

  #waitForWriting(sequence: number): boolean {
    const isAnswered = (answer: number) => answer === sequence;
    return waitUntil(this.#block.header, Word.answer, isAnswered, WRITING_MS, () => {});
  }

  #read(): string {
    const length = Atomics.load(this.#block.header, Word.length);
    // TextDecoder refuses views of shared memory, so a copy is decoded.
    return this.#decoder.decode(this.#block.payload.slice(0, length));
  }
}

/**
 * Limits the number of points that the server does not have yet. So an objective that reports in a tight loop waits and
 * does not fill the agent's memory. Each attempt has its own window.
 */
export class ReportWindow {
  readonly #header: Int32Array<SharedArrayBuffer>;
  readonly #limit: number;
  readonly #checkInterrupt: () => void;
  #sent = 0;

  constructor(block: Block, limit: number, checkInterrupt: () => void) {
    this.#header = block.header;
    this.#limit = limit;
    this.#checkInterrupt = checkInterrupt;
  }

  /** Waits until there is room and counts one point. Returns false if there was none for `timeoutMs`. */
  admit(timeoutMs: number): boolean {
    const hasRoom = (taken: number) => this.#sent - taken < this.#limit;
    if (!waitUntil(this.#header, Word.taken, hasRoom, timeoutMs, this.#checkInterrupt))
      return false;
    this.#sent += 1;
    return true;
  }
}

/**
 * Sleeps until the word satisfies `isDone` and returns true, or until the time ends and returns false. Calls `look` at
 * each wake-up.
 */
export function waitUntil(
  header: Int32Array<SharedArrayBuffer>,
  word: number,
  isDone: (value: number) => boolean,
  timeoutMs: number,
  look: () => void,
): boolean {
  let deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = Atomics.load(header, word);
    if (isDone(value)) return true;
    const looked = performance.now();
    look();
    const now = performance.now();
    // The time in which the thread was parked does not count.
    deadline += now - looked;
    const left = deadline - now;
    if (left <= 0) return false;
    Atomics.wait(header, word, value, Math.min(SLICE_MS, left));
  }
}
