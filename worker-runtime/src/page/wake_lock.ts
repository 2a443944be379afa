// Keeps the screen on while the device takes part. The browser releases the lock when the page is hidden, and may refuse it
// or take it away, for example at low battery. So it is requested again when the page is visible, and after a while.
// Runs on the page thread.

/** The time after which a lock that the browser refused or took away is requested again. */
export const AGAIN_MS = 30_000;

export class WakeLock {
  readonly #onChange: () => void;
  #sentinel: WakeLockSentinel | null = null;
  #isWanted = false;
  #isAsking = false;
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get isHeld(): boolean {
    return this.#sentinel !== null;
  }

  want(wanted: boolean): void {
    if (wanted === this.#isWanted) return;
    this.#isWanted = wanted;
    this.refresh();
  }

  /**
   * Requests the lock if it is wanted and not held, or releases it if it is not wanted. Call it also when the page
   * becomes visible.
   */
  refresh(): void {
    clearTimeout(this.#again);
    if (!this.#isWanted) {
      this.#sentinel?.release().catch(() => {});
    } else if (this.#sentinel === null && !this.#isAsking) {
      this.#isAsking = true;
      this.#ask().finally(() => {
        this.#isAsking = false;
        if (!this.#isWanted) this.refresh();
        else if (!this.isHeld) this.#refreshLater();
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
      if (this.#isWanted) this.#refreshLater();
    });
    this.#onChange();
  }

  /** A hidden page gets no lock, and asks again when it is visible. */
  #refreshLater(): void {
    clearTimeout(this.#again);
    if (!("wakeLock" in navigator) || document.visibilityState !== "visible") return;
    this.#again = setTimeout(() => this.refresh(), AGAIN_MS);
  }
}
