// The block of shared memory between an agent and its python thread: a header of 32-bit words and space for one answer.
// The agent creates it. The comment of each word says who writes it. Both threads use it.

export const PAYLOAD_BYTES = 256 * 1024;
const HEADER_BYTES = 64;
const PAGE_BYTES = 64 * 1024;

/** The indices of the header's words. */
export const Word = {
  /**
   * The sequence number of the open request; its negative while the agent writes the answer; 0 without a request. Both
   * threads write it by atomic exchange.
   */
  request: 0,
  /** The sequence number of the newest answer. The agent writes it and wakes the waiting thread. */
  answer: 1,
  /** The length of the answer in bytes of UTF-8. The agent writes it. */
  length: 2,
  /** The liveness counter. The python thread adds to it for array operations, training steps and calls. */
  progress: 3,
  /** 2 requests a KeyboardInterrupt (SIGINT). Pyodide reads and clears it; the word's first byte is Pyodide's buffer. */
  interrupt: 4,
  /** The number of this attempt's points and rows that the server has. The agent writes it and wakes the waiting thread. */
  taken: 5,
  /**
   * The part of the processor's time that the volunteer lends, in percent; 0 is all of it, as 100. The agent writes it
   * and wakes a thread that rests.
   */
  lent: 6,
  /**
   * 1 asks Python to stop in the middle of its code and keep everything in memory, until the word is 0 again. The agent
   * writes 1 and 0 and wakes the thread, which writes 2 while it is parked.
   */
  park: 7,
  /** 1 while the device may soon be gone, so that a trial saves what it can. The agent writes it. */
  leaving: 8,
  /** The microseconds of the newest reference work, and the number of its measurements. The python thread writes both. */
  referenceUs: 9,
  references: 10,
} as const;

export const PARK_WANTED = 1;
export const PARKED = 2;

export const INTERRUPT_SIGNAL = 2;

export interface Block {
  /** The shared memory, which is posted to the other thread. */
  readonly memory: SharedArrayBuffer;
  readonly header: Int32Array<SharedArrayBuffer>;
  readonly payload: Uint8Array<SharedArrayBuffer>;
  /** Pyodide's interrupt buffer. */
  readonly interrupt: Uint8Array<SharedArrayBuffer>;
}

/** Makes shared memory with WebAssembly.Memory, because WebKitGTK lacks the global constructor. */
export function allocateShared(bytes: number): SharedArrayBuffer {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  return memory.buffer as unknown as SharedArrayBuffer;
}

export function createBlock(): Block {
  return openBlock(allocateShared(HEADER_BYTES + PAYLOAD_BYTES));
}

export function openBlock(memory: SharedArrayBuffer): Block {
  return {
    memory,
    header: new Int32Array(memory, 0, HEADER_BYTES / 4),
    payload: new Uint8Array(memory, HEADER_BYTES, PAYLOAD_BYTES),
    // WebAssembly is little-endian, so the first byte of the word is the lowest.
    interrupt: new Uint8Array(memory, Word.interrupt * 4, 1),
  };
}

/** The largest sequence number of a request. It must be positive as a 32-bit word of the header. */
export const LAST_SEQUENCE = 2 ** 31 - 1;

export function nextSequence(sequence: number): number {
  return sequence === LAST_SEQUENCE ? 1 : sequence + 1;
}

/** Returns the text of an answer to a call: JSON for `hyperflock_worker.bridge`. */
export function answerText(value: unknown): string {
  return JSON.stringify({ ok: true, value });
}

/** Returns `text`, or an error if it is too long for the channel. */
export function boundedAnswer(text: string): string {
  // A UTF-16 code unit takes at most three bytes in UTF-8. So short texts surely fit, and only long texts are encoded.
  const fits =
    3 * text.length <= PAYLOAD_BYTES || new TextEncoder().encode(text).length <= PAYLOAD_BYTES;
  const limit = `An answer is at most ${PAYLOAD_BYTES} bytes.`;
  return fits ? text : errorText("answer_too_large", limit);
}

export function errorText(code: string, message: string): string {
  return JSON.stringify({ ok: false, error: { code, message } });
}
