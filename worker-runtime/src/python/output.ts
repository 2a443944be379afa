// Writes the output of trial code to the browser's console, with a limit of lines per second that a person can read. Of
// the lines above the limit, the newest wait for a later second or the trial's end, and older ones are only counted. Of
// a line without an end, only the beginning is kept. Runs on the python thread. Python may block it for long, so no
// timer is used.

const LINES_PER_SECOND = 50;
/** The most lines written in a second, including the line that counts the lines that were left out. */
export const MOST_LINES_PER_SECOND = LINES_PER_SECOND + 1;
/** The most lines that may wait. The server keeps no more lines of a trial than this (R39). */
const WAITING_LINES = 1_000;
const WAITING_CHARACTERS = 131_072;
/** The most lines that are written at a trial's end. */
export const MOST_LINES_AT_END = WAITING_LINES + 1;
const LINE_CHARACTERS = 2_000;
/** Long texts are read in pieces of this size, because a part of a text keeps the whole text in memory. */
const PIECE_BYTES = 8_192;
const CONSOLE = ["debug", "log", "info", "warn", "error", "trace", "dir", "table"];

export class Output {
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  readonly #waiting: string[] = [];
  readonly #endStreams: (() => void)[] = [];
  #characters = 0;
  #second = 0;
  #lines = 0;
  #dropped = 0;

  constructor(write: (line: string) => void, now: () => number) {
    this.#write = write;
    this.#now = now;
  }

  line(text: string): void {
    this.#begin(Math.floor(this.#now() / 1000));
    const line = text.slice(0, LINE_CHARACTERS);
    if (this.#lines < LINES_PER_SECOND) {
      this.#lines += 1;
      this.#write(line);
    } else {
      this.#keep(line);
    }
  }

  /** Writes the lines that waited for the next second, if that second has begun. */
  catchUp(): void {
    if (this.#waiting.length > 0) this.#begin(Math.floor(this.#now() / 1000));
  }

  /** Writes all waiting lines, even a line without an end. Call it when the trial has ended. */
  flush(): void {
    for (const end of this.#endStreams) end();
    this.#release(this.#waiting.length);
  }

  /** Returns the writer of one of Python's two streams. It keeps the beginning of a line until the line's end. */
  stream(): (bytes: Uint8Array) => number {
    const decoder = new TextDecoder();
    let begun = "";
    const take = (text: string) => {
      const lines = text.split("\n");
      const last = lines.pop() ?? "";
      for (const line of lines) {
        this.line(begun + line);
        begun = "";
      }
      begun = (begun + last).slice(0, LINE_CHARACTERS);
    };
    this.#endStreams.push(() => {
      take(decoder.decode());
      if (begun !== "") take("\n");
    });
    return (bytes) => {
      for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
        take(decoder.decode(bytes.subarray(from, from + PIECE_BYTES), { stream: true }));
      }
      return bytes.length;
    };
  }

  /** Returns a console for trial code. Its lines count for the same limit. */
  console(): Readonly<Record<string, (...values: unknown[]) => void>> {
    const write = (...values: unknown[]) => this.line(values.map(textOf).join(" "));
    return Object.freeze(Object.fromEntries(CONSOLE.map((name) => [name, write])));
  }

  /** Begins a second. Lines that waited are written first. */
  #begin(second: number): void {
    if (second === this.#second) return;
    this.#second = second;
    this.#lines = Math.min(LINES_PER_SECOND, this.#waiting.length);
    this.#release(this.#lines);
  }

  #keep(line: string): void {
    this.#waiting.push(line);
    this.#characters += line.length;
    while (this.#waiting.length > WAITING_LINES || this.#characters > WAITING_CHARACTERS) {
      this.#take();
      this.#dropped += 1;
    }
  }

  /** Writes the oldest waiting lines, after a line that counts those that were left out before them. */
  #release(lines: number): void {
    if (this.#dropped > 0 && lines > 0) {
      this.#write(`[${this.#dropped} lines left out]`);
      this.#dropped = 0;
    }
    for (let i = 0; i < lines; i += 1) this.#write(this.#take());
  }

  #take(): string {
    const line = this.#waiting.shift() ?? "";
    this.#characters -= line.length;
    return line;
  }
}

function textOf(value: unknown): string {
  try {
    return String(value).slice(0, LINE_CHARACTERS);
  } catch {
    return "?";
  }
}
