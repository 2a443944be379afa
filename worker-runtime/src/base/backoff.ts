// Exponential back-off with random delays. Pure: callers pass the random source. Agent thread.

export class Backoff {
  readonly #firstMs: number;
  readonly #mostMs: number;
  readonly #random: () => number;
  #failures = 0;

  constructor(firstMs: number, mostMs: number, random: () => number) {
    this.#firstMs = firstMs;
    this.#mostMs = mostMs;
    this.#random = random;
  }

  /** The number of failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Counts a failure. Returns the delay before the next try. It is random, between one half and the whole of a maximum,
   * which doubles with each failure up to a limit.
   */
  nextMs(): number {
    const ceiling = Math.min(this.#mostMs, this.#firstMs * 2 ** this.#failures);
    this.#failures += 1;
    return ceiling * (0.5 + 0.5 * this.#random());
  }

  reset(): void {
    this.#failures = 0;
  }
}
