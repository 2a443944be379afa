// What the server has counted for this browser's devices, by enrolment code. The server adds up results some seconds after
// it has accepted them, so the store asks at once and once more after a pause. Page thread.

import type { Contribution } from "@hyperflock/worker-runtime/page";
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Given } from "./given_api.ts";
import { givenInAll } from "./given_view.ts";

/** Longer than the server takes until it has added up an accepted result (ServeConfig::fold_ms and a second). */
export const GIVEN_PAUSE_MS = 15_000;

export interface GivenEnvironment {
  /** Returns null if there is no device or no answer. */
  readonly fetchGiven: (code: string) => Promise<Given | null>;
  /** Calls `run` once after about `ms` milliseconds. */
  readonly after: (ms: number, run: () => void) => void;
}

/** A code that is asked about, or will be after the pause. */
interface Asking {
  /** What the device itself had counted when it asked for the newest time. */
  own: Contribution;
  /** Whether `own` has changed since the pause began. */
  again: boolean;
}

/** What the server has counted, and what the device itself had counted of the same results. */
interface Known {
  readonly given: Given;
  readonly own: Contribution;
}

export class GivenStore {
  readonly #environment: GivenEnvironment;
  readonly #given: Signal<ReadonlyMap<string, Given>> = signal(new Map());
  readonly #known: Signal<ReadonlyMap<string, Known>> = signal(new Map());
  readonly #asking = new Map<string, Asking>();

  constructor(environment: GivenEnvironment) {
    this.#environment = environment;
  }

  /** The newest answer for each code. */
  get given(): ReadonlySignal<ReadonlyMap<string, Given>> {
    return this.#given;
  }

  /**
   * Returns what a device gave: what the server has counted, and what the device itself counts since then. The newest
   * results of `own` may be missing in the first answer, so until the second one it is the larger of both.
   */
  inAll(code: string, own: Contribution): Contribution {
    const known = this.#known.value.get(code);
    const given = known?.given ?? this.#given.value.get(code);
    if (given === undefined) {
      return own;
    }
    const { trials, ms } = givenInAll(given);
    if (known === undefined) {
      return { trials: Math.max(own.trials, trials), seconds: Math.max(own.seconds, ms / 1000) };
    }
    return {
      trials: trials + Math.max(own.trials - known.own.trials, 0),
      seconds: ms / 1000 + Math.max(own.seconds - known.own.seconds, 0),
    };
  }

  /** Asks about a code, now or after a pause. `own` is what the device itself has counted. */
  ask(code: string, own: Contribution): void {
    const asking = this.#asking.get(code);
    if (asking === undefined) {
      const begun = { own, again: false };
      this.#asking.set(code, begun);
      void this.#load(code, begun);
    } else {
      asking.own = own;
      asking.again = true;
    }
  }

  /** Forgets a device. An answer that comes later is not shown. */
  forget(code: string): void {
    this.#asking.delete(code);
    this.#given.value = without(this.#given.value, code);
    this.#known.value = without(this.#known.value, code);
  }

  async #load(code: string, asking: Asking): Promise<void> {
    const given = await this.#environment.fetchGiven(code);
    if (this.#asking.get(code) !== asking) {
      return;
    }
    if (given !== null) {
      this.#given.value = new Map(this.#given.value).set(code, given);
    }
    this.#environment.after(GIVEN_PAUSE_MS, () => void this.#loadAgain(code, asking));
  }

  async #loadAgain(code: string, asking: Asking): Promise<void> {
    if (this.#asking.get(code) !== asking) {
      return;
    }
    if (asking.again) {
      asking.again = false;
      await this.#load(code, asking);
      return;
    }
    // All results that the device had counted before the pause are in this answer.
    const { own } = asking;
    const given = await this.#environment.fetchGiven(code);
    if (this.#asking.get(code) !== asking) {
      return;
    }
    this.#asking.delete(code);
    if (given !== null) {
      this.#given.value = new Map(this.#given.value).set(code, given);
      this.#known.value = new Map(this.#known.value).set(code, { given, own });
    }
    if (asking.again) {
      this.ask(code, asking.own);
    }
  }
}

function without<T>(all: ReadonlyMap<string, T>, code: string): ReadonlyMap<string, T> {
  const others = new Map(all);
  return others.delete(code) ? others : all;
}
