// Owns the gpu thread of a python thread: starts it, passes messages to it, reports its end to the ring, and starts
// another if the ring requests one. Runs on the thread that may start workers: a page's, or Node's main thread. The
// python thread may block for long, so nothing here waits for it.

import { controlAt, interrupt, markGone } from "../ring/control.ts";
import { State, Word } from "../ring/layout.ts";
import type { FromGpuThread, ToGpuThread } from "./gpu_messages.ts";

/** A thread that runs a GpuService. */
export interface GpuWorker {
  post(message: ToGpuThread): void;
  /** Resolves when the thread has stopped. */
  terminate(): Promise<void>;
}

export interface GpuWorkerEvents {
  said(message: FromGpuThread): void;
  /** Reports that the thread has ended or cannot continue. */
  ended(reason: string): void;
}

type Open = Extract<ToGpuThread, { kind: "open" }>;

export class GpuThreadOwner {
  readonly #start: (events: GpuWorkerEvents) => GpuWorker;
  readonly #report: (text: string) => void;
  #worker: GpuWorker | undefined;
  /** The newest ring that the thread serves. */
  #ring: Open | undefined;
  /**
   * The number of rings that were given to the thread and whose end it has not reported. It may be 2 for a moment,
   * because a new ring can be opened before the end of a closed one is reported.
   */
  #given = 0;
  #replacing = Promise.resolve();
  #whenIdle: (() => void)[] = [];

  /** `report` is called with the reason why a thread ended. */
  constructor(start: (events: GpuWorkerEvents) => GpuWorker, report: (text: string) => void) {
    this.#start = start;
    this.#report = report;
    this.#begin();
  }

  /** Passes a message of the python thread on to the gpu thread. */
  receive(message: ToGpuThread): void {
    switch (message.kind) {
      case "open":
        this.#open(message);
        return;
      case "wake":
      case "share":
        this.#worker?.post(message);
        return;
      default:
        message satisfies never;
    }
  }

  /** Ends the python thread's wait. A revoke also ends all later waits. */
  interrupt(kind: "once" | "revoke"): void {
    if (this.#ring !== undefined) interrupt(this.#ring.memory, this.#ring.controlAddress, kind);
  }

  /** Resolves when the thread serves no ring. */
  idle(): Promise<void> {
    if (this.#ring === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Ends the thread for good. */
  async terminate(): Promise<void> {
    await this.#replacing;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#served();
    await worker?.terminate();
  }

  #begin(): void {
    const worker: GpuWorker = this.#start({
      said: (message) => {
        if (worker === this.#worker) this.#hear(message);
      },
      ended: (reason) => {
        if (worker === this.#worker) this.#lose(reason);
      },
    });
    this.#worker = worker;
  }

  #open(message: Open): void {
    const state = controlAt(message.memory, message.controlAddress)?.load(Word.state);
    this.#ring = message;
    if (state === State.absent && this.#worker !== undefined) {
      this.#given += 1;
      this.#worker.post(message);
      return;
    }
    // A ring requests another thread if its thread does not answer. The old thread is ended first, because two threads
    // must not use the ring at the same time.
    const old = this.#worker;
    this.#worker = undefined;
    this.#given = 1;
    this.#replacing = this.#replacing.then(async () => {
      await old?.terminate();
      this.#begin();
      this.#worker?.post(message);
    });
  }

  #hear(message: FromGpuThread): void {
    switch (message.kind) {
      case "closed":
        this.#given -= 1;
        if (this.#given === 0) this.#served();
        return;
      case "failed": // the thread has reported it in the ring
        this.#given -= 1;
        this.#report(message.message);
        return;
      default:
        message satisfies never;
    }
  }

  #lose(reason: string): void {
    this.#report(reason);
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    if (this.#ring !== undefined) markGone(this.#ring.memory, this.#ring.controlAddress);
    this.#served();
  }

  #served(): void {
    this.#ring = undefined;
    this.#given = 0;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
