// The module `_hyperflock_bridge` for Python: blocking calls, reports, liveness. Runs on the python thread.

import { type Block, errorText, PARK_WANTED, PARKED, Word } from "../channel/block.ts";
import { Caller, ReportWindow, waitUntil } from "../channel/caller.ts";
import { DutyCycle } from "../governor/duty_cycle.ts";
import { REFERENCE_EVERY_MS, referenceMs } from "../governor/reference_work.ts";
import type { FromPython } from "./messages.ts";

/** The time limit of a call. It is longer than a lease, because a call may wait for a new connection. */
export const CALL_MS = 120_000;
/** The time limit of an upload, which may wait for a new connection and is slow on a phone. */
export const UPLOAD_MS = 300_000;
/** The largest checkpoint or artifact in bytes, which is the server's default limit. */
export const UPLOAD_BYTES = 64 * 1024 * 1024;
/**
 * The most points and rows that the server may not have acknowledged yet. A few full messages contain this many.
 */
export const WINDOW_POINTS = 4_096;
/** The longest method name of a call, in characters. The agent refuses longer texts. */
export const METHOD_CHARACTERS = 256;
export const PAYLOAD_CHARACTERS = 65_536;
/** The longest row of named series, as JSON text: 256 values with the longest names. */
export const ROW_CHARACTERS = 262_144;
/** The time between two reports of the liveness counter by a thread that shares no memory. */
export const PROGRESS_MS = 1_000;

/** Throws if trial code passes a longer text than a call may have. */
export function checkCall(method: string, payload: string): void {
  if (method.length > METHOD_CHARACTERS) throw new Error("The call's name is too long.");
  if (payload.length > PAYLOAD_CHARACTERS) {
    throw new Error(`A call's arguments are at most ${PAYLOAD_CHARACTERS} characters.`);
  }
}

export function noRoomForReports(): Error {
  return new Error(`The server took no reports for ${CALL_MS / 1000} s.`);
}

/** Throws if trial code passes a longer row than a message may have. */
export function checkRow(row: string): void {
  if (row.length > ROW_CHARACTERS) {
    throw new Error(`A row of series is at most ${ROW_CHARACTERS} characters.`);
  }
}

/** A parked thread wakes up at least this often, to show that it is alive. */
const PARKED_SLICE_MS = 500;

/** A Python object with the buffer protocol, as Pyodide passes it. */
export interface PyBuffer {
  getBuffer(type: "u8"): {
    readonly data: Uint8Array;
    readonly nbytes: number;
    release(): void;
  };
}

/**
 * Returns a copy of the bytes, because Python may change its heap after the call. Returns null if there are too many
 * bytes.
 */
export function uploadBytes(from: PyBuffer): Uint8Array<ArrayBuffer> | null {
  const buffer = from.getBuffer("u8");
  try {
    return buffer.nbytes > UPLOAD_BYTES ? null : new Uint8Array(buffer.data);
  } finally {
    buffer.release();
  }
}

export function uploadTooLarge(): string {
  return errorText("upload_too_large", `An upload has at most ${UPLOAD_BYTES} bytes.`);
}

export class Bridge {
  readonly #block: Block;
  readonly #post: (message: FromPython, transfer?: Transferable[]) => void;
  readonly #checkInterrupt: () => void;
  readonly #caller: Caller;
  readonly #duty = new DutyCycle(performance.now());
  #window: ReportWindow;
  #attempt = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;

  constructor(
    block: Block,
    post: (message: FromPython, transfer?: Transferable[]) => void,
    checkInterrupt: () => void,
  ) {
    this.#block = block;
    this.#post = post;
    this.#checkInterrupt = checkInterrupt;
    this.#window = new ReportWindow(block, WINDOW_POINTS, checkInterrupt);
    this.#caller = new Caller({
      block,
      post: (request) => post({ kind: "call", attempt: this.#attempt, ...request }),
      checkInterrupt,
    });
  }

  begin(attempt: number): void {
    this.#attempt = attempt;
    this.#duty.resumed(performance.now());
    this.#window = new ReportWindow(this.#block, WINDOW_POINTS, this.#checkInterrupt);
  }

  /** Returns the functions that `registerJsModule` needs. */
  get module() {
    return {
      call: (method: string, payload: string): string => {
        this.#progress();
        checkCall(String(method), String(payload));
        const answer = this.#caller.call(String(method), String(payload), CALL_MS);
        // The wait for the server was no work.
        this.#duty.resumed(performance.now());
        this.#progress();
        return answer;
      },
      /** Uploads `bytes`, a buffer of Python, and blocks until the upload is answered. */
      upload: (head: string, bytes: PyBuffer): string => {
        this.#progress();
        const answer = this.#upload(String(head), bytes);
        this.#duty.resumed(performance.now());
        this.#progress();
        return answer;
      },
      report: (step: number, value: number): void => {
        this.#progress();
        if (!this.#window.admit(CALL_MS)) throw noRoomForReports();
        this.#post({
          kind: "report",
          attempt: this.#attempt,
          step: Number(step),
          value: Number(value),
        });
      },
      log: (row: string): void => {
        this.#progress();
        checkRow(String(row));
        if (!this.#window.admit(CALL_MS)) throw noRoomForReports();
        this.#post({ kind: "log", attempt: this.#attempt, row: String(row) });
      },
      progress: (): void => this.#progress(),
      /** Whether the device may soon be gone, so that the trial should save what it can. */
      leaving: (): boolean => Atomics.load(this.#block.header, Word.leaving) !== 0,
    };
  }

  /**
   * Blocks as long as the agent wants this thread parked. Python keeps its memory and computes nothing. An interrupt
   * ends it.
   */
  park(): void {
    const { header } = this.#block;
    if (this.#attempt === 0 || Atomics.load(header, Word.park) === 0) return;
    while (Atomics.load(header, Word.park) !== 0 && Atomics.load(header, Word.interrupt) === 0) {
      Atomics.compareExchange(header, Word.park, PARK_WANTED, PARKED);
      // A parked thread is alive.
      Atomics.add(header, Word.progress, 1);
      Atomics.wait(header, Word.park, PARKED, PARKED_SLICE_MS);
    }
    this.#duty.resumed(performance.now());
  }

  #upload(head: string, from: PyBuffer): string {
    checkCall("upload", head);
    const bytes = uploadBytes(from);
    if (bytes === null) return uploadTooLarge();
    const attempt = this.#attempt;
    return this.#caller.ask(
      "upload",
      (sequence) => this.#post({ kind: "upload", attempt, sequence, head, bytes }, [bytes.buffer]),
      UPLOAD_MS,
    );
  }

  #progress(): void {
    Atomics.add(this.#block.header, Word.progress, 1);
    this.park();
    this.#measure();
    this.#rest();
  }

  /** Measures the processor's speed every few seconds, from which the page notices heat. */
  #measure(): void {
    if (performance.now() - this.#measuredAt < REFERENCE_EVERY_MS) return;
    const { header } = this.#block;
    Atomics.store(header, Word.referenceUs, Math.round(1_000 * referenceMs()));
    Atomics.add(header, Word.references, 1);
    this.#measuredAt = performance.now();
  }

  /** Rests as long as the volunteer's share of the processor asks for. An interrupt or a new share ends the rest. */
  #rest(): void {
    const { header } = this.#block;
    const lent = Atomics.load(header, Word.lent);
    const restMs = this.#duty.step(performance.now(), lent);
    if (restMs === 0) return;
    const look = () => {
      // A thread that rests is alive.
      Atomics.add(header, Word.progress, 1);
      this.#checkInterrupt();
    };
    waitUntil(header, Word.lent, (now) => now !== lent, restMs, look);
    this.#duty.resumed(performance.now());
  }
}
