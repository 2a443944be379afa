// Counts what this thread fetches: the bytes on the wire, compressed and with headers, as the browser reports them
// (Resource Timing). A file from the browser's own cache counts nothing. Any thread.
//
//     const meter = new FetchMeter((bytes) => ...);
//     meter.fetch("/api/blobs/...", {}); // of another origin, the body's bytes are counted

/** The part of PerformanceResourceTiming that is read. Old browsers lack the sizes. */
export interface FetchTiming {
  readonly name: string;
  readonly transferSize?: number;
}

/** Returns the bytes of these entries. Browsers say 0 for other origins that do not allow their timing. */
export function wireBytes(entries: readonly FetchTiming[]): number {
  return entries.reduce((sum, { transferSize = 0 }) => sum + transferSize, 0);
}

export class FetchMeter {
  readonly #tell: (bytes: number) => void;
  readonly #fetch: typeof fetch;
  readonly #origin: string;

  constructor(tell: (bytes: number) => void, fetcher: typeof fetch, origin: string) {
    this.#tell = tell;
    this.#fetch = fetcher;
    this.#origin = origin;
  }

  /** Counts everything that this thread fetches from its own origin. */
  observe(): void {
    if (typeof PerformanceObserver === "undefined") return;
    const observer = new PerformanceObserver((list) => {
      const own = list.getEntries().filter(({ name }) => this.#isOwn(name));
      const bytes = wireBytes(own as unknown as FetchTiming[]);
      if (bytes > 0) this.#tell(bytes);
    });
    observer.observe({ type: "resource" });
  }

  /** Fetches. Of another origin, it counts the body while it arrives. */
  readonly fetch = async (url: string, init?: RequestInit): Promise<Response> => {
    const answer = await this.#fetch(url, init);
    if (this.#isOwn(url) || answer.body === null) return answer;
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.#tell(chunk.length);
        controller.enqueue(chunk);
      },
    });
    const { status, headers } = answer;
    return new Response(answer.body.pipeThrough(count), { status, headers });
  };

  #isOwn(url: string): boolean {
    return new URL(url, this.#origin).origin === this.#origin;
  }
}
