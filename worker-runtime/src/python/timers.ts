// The timers that a trial starts. They end with it, because the next trial of its study runs on the same thread.

type Start = (callback: unknown, delay?: number, ...values: unknown[]) => unknown;

/** The global object, as far as this file uses it. */
export interface TimerScope {
  setTimeout: Start;
  setInterval: Start;
  readonly clearTimeout: (timer: never) => void;
}

export class Timers {
  readonly #clear: (timer: never) => void;
  readonly #waiting = new Set<unknown>();

  /** Replaces the scope's functions by ones that remember what they start. */
  constructor(scope: TimerScope) {
    this.#clear = scope.clearTimeout.bind(scope);
    const start = { setTimeout: scope.setTimeout, setInterval: scope.setInterval };
    for (const name of ["setTimeout", "setInterval"] as const) {
      const real = start[name].bind(scope);
      const remembered: Start = (callback, delay, ...values) => {
        // A callback given as text would have to be compiled, which the thread's policy forbids.
        if (typeof callback !== "function") return real(() => {}, 0);
        const call = () => {
          if (name === "setTimeout") this.#waiting.delete(timer);
          Reflect.apply(callback, undefined, values);
        };
        const timer = real(call, delay);
        this.#waiting.add(timer);
        return timer;
      };
      Reflect.defineProperty(scope, name, { value: remembered, writable: false });
    }
  }

  /** Ends every timer that has not fired, and every interval. */
  endAll(): void {
    for (const timer of this.#waiting) this.#clear(timer as never);
    this.#waiting.clear();
  }
}
