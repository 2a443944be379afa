// The python thread's end of the call channel by messages: each wait is a promise, for which Python stands still by JSPI.
// Runs on the python thread only. Every wait has its time-out.

import { errorText, nextSequence } from "./block.ts";
import type { CallRequest } from "./caller.ts";

/** Something that is waited for. */
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

  /** Gives the answer's JSON text, `call_timeout` after `timeoutMs`. */
  call(method: string, payload: string, timeoutMs: number): Promise<string> {
    return this.ask(method, (sequence) => this.#post({ sequence, method, payload }), timeoutMs);
  }

  /** The same with a request that `post` sends by itself, under the sequence that it is given. */
  ask(method: string, post: (sequence: number) => void, timeoutMs: number): Promise<string> {
    this.#sequence = nextSequence(this.#sequence);
    const late = errorText("call_timeout", `The server did not answer '${method}' in time.`);
    const wait = waitFor(timeoutMs, late);
    this.#open = { sequence: this.#sequence, settle: wait.settle };
    post(this.#sequence);
    return wait.promise;
  }

  /** An answer; of a call that was given up on it is no news. */
  onAnswer(sequence: number, text: string): void {
    if (this.#open?.sequence === sequence) this.#end(text);
  }

  /** Python is to stop: whoever waits goes on, and meets the interrupt. */
  interrupt(): void {
    this.#end(errorText("interrupted", "The attempt was ended."));
  }

  #end(text: string): void {
    this.#open?.settle(text);
    this.#open = null;
  }
}

/** Bounds the points that are on the way to the server, as ReportWindow of caller.ts does. One for each attempt. */
export class PostedWindow {
  readonly #limit: number;
  #sent = 0;
  #taken = 0;
  #waiting: Wait<boolean> | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts one point: true at once where there is room; else a promise, false when there was none for `timeoutMs`. */
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
