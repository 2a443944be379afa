// Lets only one tab of a browser compute at a time, with a Web Lock of this origin. If a browser has no locks or refuses
// them, the server decides between two tabs of one device (R8). Runs on the page thread.

const NAME = "hyperflock.computing";

export interface TabLockEvents {
  /** Called when this tab may compute. Without locks it is called at once. */
  taken(): void;
  /** Called when another tab computes. */
  refused(): void;
  /** Called when another tab has taken the lock by force. */
  lost(): void;
}

export class TabLock {
  readonly #locks: LockManager | undefined;
  #letGo: (() => void) | null = null;
  #watch: AbortController | null = null;

  constructor(locks: LockManager | undefined) {
    this.#locks = locks;
  }

  take(how: "if_free" | "by_force", events: TabLockEvents): void {
    this.#stopWatching();
    if (this.#locks === undefined) {
      events.taken();
      return;
    }
    let mine: (() => void) | null = null;
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      if (lock === null) {
        events.refused();
        return undefined;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      mine = resolve;
      this.#letGo = resolve;
      events.taken();
      return promise;
    };
    const options = how === "by_force" ? { steal: true } : { ifAvailable: true };
    this.#locks.request(NAME, options, hold).catch(() => {
      if (mine === null) {
        events.taken(); // the browser forbids locks, as it may forbid storage
      } else if (this.#letGo === mine) {
        this.#letGo = null;
        events.lost();
      }
    });
  }

  release(): void {
    this.#stopWatching();
    this.#letGo?.();
    this.#letGo = null;
  }

  /** Calls `callback` once when no tab computes any more. Not called if this tab asks for the lock before that. */
  whenFree(callback: () => void): void {
    const watch = new AbortController();
    this.#watch = watch;
    const { signal } = watch;
    this.#locks
      ?.request(NAME, { signal }, () => {
        if (!signal.aborted) callback();
      })
      .catch(() => {});
  }

  /** Returns whether another tab computes now, as far as the browser reports it. */
  async isTaken(): Promise<boolean> {
    const now = await this.#locks?.query().catch(() => null);
    return now?.held?.some(({ name }) => name === NAME) ?? false;
  }

  #stopWatching(): void {
    this.#watch?.abort();
    this.#watch = null;
  }
}
