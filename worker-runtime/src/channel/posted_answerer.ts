// The agent's end of the call channel with messages, for browsers without shared memory. A python thread receives
// messages only while Python is suspended by JSPI (JavaScript Promise Integration). While Python computes the thread
// receives none, so the agent may have to end it. Runs on the agent thread only; never blocks.

import type { AgentEnd } from "./agent_end.ts";
import { boundedAnswer } from "./block.ts";

/** The messages to a thread that shares no memory with the agent. The thread receives them while Python waits. */
export type PostedToCaller =
  | { readonly kind: "answer"; readonly sequence: number; readonly text: string }
  | { readonly kind: "taken"; readonly points: number }
  | { readonly kind: "interrupt" };

export class PostedAnswerer implements AgentEnd {
  readonly memory = null;
  readonly #post: (message: PostedToCaller) => void;
  #progress = 0;

  constructor(post: (message: PostedToCaller) => void) {
    this.#post = post;
  }

  get progress(): number {
    return this.#progress;
  }

  /** A thread that cannot rest needs no measurement. */
  readonly reference = null;

  /** Stores the liveness counter that the python thread has sent. */
  setProgress(count: number): void {
    this.#progress = count;
  }

  answer(sequence: number, text: string): void {
    this.#post({ kind: "answer", sequence, text: boundedAnswer(text) });
  }

  interrupt(): void {
    this.#post({ kind: "interrupt" });
  }

  reset(): void {
    // There is nothing to do: the thread resets itself for each attempt.
  }

  setLent(): void {
    // A thread without shared memory cannot rest in the middle of Python's code, so it has all of the time.
  }

  readonly isParked = false;

  setParked(): void {
    // A thread without shared memory cannot stop in the middle of Python's code.
  }

  setLeaving(): void {
    // Such a thread receives no message while Python computes, so it learns of nothing in time.
  }

  setTaken(points: number): void {
    this.#post({ kind: "taken", points });
  }
}
