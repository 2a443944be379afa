// What trial code prints, to the browser's console: as many lines as a person can read, the rest only counted.
// Runs on the python thread.

const kLinesPerSecond = 50;
const kLineCharacters = 2_000;

export class Output {
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  #second = 0;
  #lines = 0;
  #dropped = 0;

  constructor(write: (line: string) => void, now: () => number) {
    this.#write = write;
    this.#now = now;
  }

  line(text: string): void {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#second) {
      if (this.#dropped > 0) this.#write(`[${this.#dropped} lines left out]`);
      this.#second = second;
      this.#lines = 0;
      this.#dropped = 0;
    }
    if (this.#lines < kLinesPerSecond) {
      this.#lines += 1;
      this.#write(text.slice(0, kLineCharacters));
    } else {
      this.#dropped += 1;
    }
  }
}
