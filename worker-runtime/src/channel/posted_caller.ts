// The python thread's end of the call channel with messages. Each wait is a promise. JSPI (JavaScript Promise
// Integration) suspends Python until the promise is settled. Every wait has a time-out. Runs on the python thread only.

import { errorText, nextSequence } from "./block.ts";
import type { CallRequest } from "./caller.ts";

/** A wait for a value, with its time-out. */
interface Wait<Value> {
  readonly settle: (value: Value) => void;
}

function waitFor<Value>(
  timeoutMs: number,
  atTimeout: Value,
): Wait<Value> & { promise: Promise<Value> } {
  const { promise, resolve } = Promise.withResolvers<Value>();
  const timer = setTimeout(() => resolve(atTimeout), timeoutMs);
  return {
    promise,
    settle: (value) => {
      clearTimeout(timer);
      resolve(value);
    },
  };
}

export class PostedCaller {
  readonly #post: (request: CallRequest) => void;
  #sequence = 0;
  #open: (Wait<string> & { readonly sequence: number }) | null = null;

  constructor(post: (request: CallRequest) => void) {
    this.#post = post;
  }

  /** Returns the answer's JSON text, or `call_timeout` after `timeoutMs`. */
  call(method: string, payload: string, timeoutMs: number): Promise<string> {
    return this.ask(method, (sequence) => this.#post({ sequence, method, payload }), timeoutMs);
  }

  /** Does the same as `call` with a request that `post` sends under the given sequence number. */
  ask(method: string, post: (sequence: number) => void, timeoutMs: number): Promise<string> {
    this.#sequence = nextSequence(this.#sequence);
    const late = errorText("call_timeout", `The server did not answer '${method}' in time.`);
    const wait = waitFor(timeoutMs, late);
    this.#open = { sequence: this.#sequence, settle: wait.settle };
    post(this.#sequence);
    return wait.promise;
  }

  /** Receives an answer. The answer to a call that was given up is ignored. */
  onAnswer(sequence: number, text: string): void {
    if (this.#open?.sequence === sequence) this.#end(text);
  }

  /** Ends every wait, so that Python notices the interrupt. */
  interrupt(): void {
    this.#end(errorText("interrupted", "The attempt was ended."));
  }

  #end(text: string): void {
    this.#open?.settle(text);
    this.#open = null;
  }
}

/**
 * Limits the number of points that the server does not have yet, as ReportWindow of caller.ts does. Each attempt has
 * its own window.
 */
export class PostedWindow {
  readonly #limit: number;
  #sent = 0;
  #taken = 0;
  #waiting: Wait<boolean> | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts one point. Returns true if there is room; otherwise a promise of true, or of false after the time limit. */
  admit(timeoutMs: number): true | Promise<boolean> {
    if (this.#hasRoom) {
      this.#sent += 1;
      return true;
    }
    const wait = waitFor(timeoutMs, false);
    this.#waiting = wait;
    return wait.promise.then((hasRoom) => {
      if (hasRoom) this.#sent += 1;
      return hasRoom;
    });
  }

  onTaken(points: number): void {
    this.#taken = points;
    if (this.#hasRoom) this.#wake(true);
  }

  interrupt(): void {
    this.#wake(false);
  }

  get #hasRoom(): boolean {
    return this.#sent - this.#taken < this.#limit;
  }

  #wake(hasRoom: boolean): void {
    this.#waiting?.settle(hasRoom);
    this.#waiting = null;
  }
}
