// What trial code prints, and what it writes to the console, to the browser's console: as many lines as a person can read,
// the rest only counted. A line without an end is not gathered. Runs on the python thread.

const kLinesPerSecond = 50;
/** What leaves in a second at most: a flood's own lines, and the one that counts those left out. */
export const kMostLinesPerSecond = kLinesPerSecond + 1;
const kLineCharacters = 2_000;
const kConsole = ["debug", "log", "info", "warn", "error", "trace", "dir", "table"];

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
      this.flush();
      this.#second = second;
      this.#lines = 0;
    }
    if (this.#lines < kLinesPerSecond) {
      this.#lines += 1;
      this.#write(text.slice(0, kLineCharacters));
    } else {
      this.#dropped += 1;
    }
  }

  /** Says how many lines were left out since the last one that passed. */
  flush(): void {
    if (this.#dropped > 0) this.#write(`[${this.#dropped} lines left out]`);
    this.#dropped = 0;
  }

  /** One of Python's two streams: takes its bytes as they come, keeps the beginning of a line until its end. */
  stream(): (bytes: Uint8Array) => number {
    const decoder = new TextDecoder();
    let begun = "";
    return (bytes) => {
      const lines = decoder.decode(bytes, { stream: true }).split("\n");
      const last = lines.pop() ?? "";
      for (const line of lines) {
        this.line(begun + line);
        begun = "";
      }
      begun = (begun + last).slice(0, kLineCharacters);
      return bytes.length;
    };
  }

  /** A console for trial code: its lines count as the others do. */
  console(): Readonly<Record<string, (...values: unknown[]) => void>> {
    const write = (...values: unknown[]) => this.line(values.map(textOf).join(" "));
    return Object.freeze(Object.fromEntries(kConsole.map((name) => [name, write])));
  }
}

function textOf(value: unknown): string {
  try {
    return String(value).slice(0, kLineCharacters);
  } catch {
    return "?";
  }
}
