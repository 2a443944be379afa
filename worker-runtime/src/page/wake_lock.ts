// Keeps the screen on while a trial computes. The browser releases the lock when the page is hidden, so it is requested again
// when the page is visible. Many browsers refuse it at low battery; the trial continues. Runs on the page thread.

export class WakeLock {
  readonly #onChange: () => void;
  #sentinel: WakeLockSentinel | null = null;
  #isWanted = false;
  #isAsking = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get isHeld(): boolean {
    return this.#sentinel !== null;
  }

  want(wanted: boolean): void {
    this.#isWanted = wanted;
    this.refresh();
  }

  /**
   * Requests the lock if it is wanted and not held, or releases it if it is not wanted. Call it also when the page
   * becomes visible.
   */
  refresh(): void {
    if (!this.#isWanted) {
      this.#sentinel?.release().catch(() => {});
    } else if (this.#sentinel === null && !this.#isAsking) {
      this.#isAsking = true;
      this.#ask().finally(() => {
        this.#isAsking = false;
        if (!this.#isWanted) this.refresh();
      });
    }
  }

  async #ask(): Promise<void> {
    if (!("wakeLock" in navigator) || document.visibilityState !== "visible") return;
    const sentinel = await navigator.wakeLock.request("screen").catch(() => null);
    if (sentinel === null) return;
    this.#sentinel = sentinel;
    sentinel.addEventListener("release", () => {
      this.#sentinel = null;
      this.#onChange();
    });
    this.#onChange();
  }
}
