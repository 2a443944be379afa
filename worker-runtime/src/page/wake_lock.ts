// Keeps the screen on while a trial computes. The browser takes the lock away when the page hides; it is asked for again
// when the page is visible. Runs on the page thread; best effort: many browsers refuse it on low battery.

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

  /** Call when the page becomes visible. */
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
