// The module `_hyperflock_bridge` for a thread that shares no memory with the agent. Its functions return promises, for
// which hyperflock_worker.bridge suspends Python by JSPI. Messages of the agent arrive only while Python is suspended.
// Runs on the python thread.

import { PostedCaller, PostedWindow } from "../channel/posted_caller.ts";
import {
  CALL_MS,
  checkCall,
  checkRow,
  noRoomForReports,
  PROGRESS_MS,
  type PyBuffer,
  UPLOAD_MS,
  uploadBytes,
  uploadTooLarge,
  WINDOW_POINTS,
} from "./bridge.ts";
import type { InterruptBuffer } from "./interrupt_buffer.ts";
import type { FromPython, ToPython } from "./messages.ts";

/** The messages of the agent to a thread that shares no memory with it. */
export type Posted = Extract<ToPython, { kind: "answer" | "taken" | "interrupt" }>;

export interface PromisingBridgeOptions {
  readonly post: (message: FromPython, transfer?: Transferable[]) => void;
  readonly now: () => number;
  readonly interrupt: InterruptBuffer;
}

export class PromisingBridge {
  readonly #options: PromisingBridgeOptions;
  readonly #caller: PostedCaller;
  #window = new PostedWindow(WINDOW_POINTS);
  #attempt = 0;
  #progress = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(options: PromisingBridgeOptions) {
    this.#options = options;
    this.#caller = new PostedCaller((request) =>
      options.post({ kind: "call", attempt: this.#attempt, ...request }),
    );
  }

  begin(attempt: number): void {
    this.#attempt = attempt;
    this.#options.interrupt.take();
    this.#window = new PostedWindow(WINDOW_POINTS);
  }

  hear(message: Posted): void {
    switch (message.kind) {
      case "answer":
        this.#caller.onAnswer(message.sequence, message.text);
        break;
      case "taken":
        this.#window.onTaken(message.points);
        break;
      case "interrupt":
        this.#options.interrupt.raise();
        this.#caller.interrupt();
        this.#window.interrupt();
        break;
      default:
        message satisfies never;
    }
  }

  /** Returns the functions that `registerJsModule` needs. `promises` says that they return promises. */
  get module() {
    return {
      promises: true,
      call: (method: string, payload: string): Promise<string> => {
        this.#move();
        checkCall(String(method), String(payload));
        return this.#caller.call(String(method), String(payload), CALL_MS);
      },
      upload: (head: string, from: PyBuffer): Promise<string> => {
        this.#move();
        return this.#upload(String(head), from);
      },
      report: (step: number, value: number): undefined | Promise<void> => {
        this.#move();
        const point = { step: Number(step), value: Number(value) };
        return this.#sendInWindow({ kind: "report", attempt: this.#attempt, ...point });
      },
      log: (row: string): undefined | Promise<void> => {
        this.#move();
        checkRow(String(row));
        return this.#sendInWindow({ kind: "log", attempt: this.#attempt, row: String(row) });
      },
      progress: (): void => this.#move(),
      /** Without shared memory, nobody can say it in time. */
      leaving: (): boolean => false,
    };
  }

  /** Sends a message within the report window: now, or when the returned promise has found room. */
  #sendInWindow(message: FromPython): undefined | Promise<void> {
    const room = this.#window.admit(CALL_MS);
    if (room !== true) {
      return room.then((hasRoom) => {
        if (!hasRoom) throw noRoomForReports();
        this.#options.post(message);
      });
    }
    this.#options.post(message);
    return undefined;
  }

  // The bytes are copied before the first wait.
  #upload(head: string, from: PyBuffer): Promise<string> {
    checkCall("upload", head);
    const bytes = uploadBytes(from);
    if (bytes === null) return Promise.resolve(uploadTooLarge());
    const attempt = this.#attempt;
    return this.#caller.ask(
      "upload",
      (sequence) =>
        this.#options.post({ kind: "upload", attempt, sequence, head, bytes }, [bytes.buffer]),
      UPLOAD_MS,
    );
  }

  /** Increments the liveness counter, and sends it to the agent from time to time. */
  #move(): void {
    this.#progress += 1;
    const now = this.#options.now();
    if (now - this.#toldAt < PROGRESS_MS) return;
    this.#toldAt = now;
    this.#options.post({ kind: "progress", attempt: this.#attempt, count: this.#progress });
  }
}
