// Owns the gpu thread of a python thread: starts it, passes messages on to it, tells the ring at once when it has ended,
// and starts another where the ring asks for one. Runs on the thread that may start workers: a page's, or Node's main
// thread. The python thread blocks for long, so nothing here waits for it.

import { controlAt, interrupt, markGone } from "../ring/control.ts";
import { State, Word } from "../ring/layout.ts";
import type { FromGpuThread, ToGpuThread } from "./gpu_messages.ts";

/** A thread with a GpuService in it. */
export interface GpuWorker {
  post(message: ToGpuThread): void;
  /** Resolves once the thread executes nothing more. */
  terminate(): Promise<void>;
}

export interface GpuWorkerEvents {
  said(message: FromGpuThread): void;
  /** It has ended, or will do nothing any more. */
  ended(reason: string): void;
}

type Open = Extract<ToGpuThread, { kind: "open" }>;

export class GpuThreadOwner {
  readonly #start: (events: GpuWorkerEvents) => GpuWorker;
  readonly #report: (text: string) => void;
  #worker: GpuWorker | undefined;
  /** The newest ring that the thread serves. */
  #ring: Open | undefined;
  /** Rings that it was given and has not ended: after a close and an open its news of the first comes late. */
  #given = 0;
  #replacing = Promise.resolve();
  #whenIdle: (() => void)[] = [];

  /** `report`: where the reason of a thread's end goes. */
  constructor(start: (events: GpuWorkerEvents) => GpuWorker, report: (text: string) => void) {
    this.#start = start;
    this.#report = report;
    this.#begin();
  }

  /** Takes a message of the python thread for the gpu thread. */
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

  /** Ends the python thread's wait; a revoke stays in force. */
  interrupt(kind: "once" | "revoke"): void {
    if (this.#ring !== undefined) interrupt(this.#ring.memory, this.#ring.controlAddress, kind);
  }

  /** Resolves when no ring is served. */
  idle(): Promise<void> {
    if (this.#ring === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Ends the thread; nothing is started any more. */
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
    // A ring that has been served before asks for another thread in the place of one that does not answer. The old one
    // must not touch the ring beside the new one.
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
      case "failed": // which the thread has told the ring itself
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
