// The browser's `Worker` for a volunteer in Node: starts thread.ts, which imports the given script. The thread has no network.
// It asks this thread for files of the runtime, and gets no others. Node, main thread.

import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";

/** The `workerData` that thread.ts gets. */
export interface ThreadStart {
  readonly origin: string;
  /** The URL of the script's file. */
  readonly script: string;
  /** The port on which the thread sends Wanted and gets Fetched. */
  readonly files: MessagePort;
}

export interface Wanted {
  readonly id: number;
  readonly url: string;
}

export interface Fetched {
  readonly id: number;
  /** The HTTP status; 0 if the server cannot be reached. */
  readonly status: number;
  readonly type: string;
  readonly bytes: ArrayBuffer;
}

async function fetchFile(origin: string, { id, url }: Wanted): Promise<Fetched> {
  const refused = { id, status: 404, type: "", bytes: new ArrayBuffer(0) };
  const { href } = new URL(url);
  if (!href.startsWith(`${origin}/runtime/`)) return refused;
  try {
    const response = await fetch(href);
    const type = response.headers.get("content-type") ?? "";
    return { id, status: response.status, type, bytes: await response.arrayBuffer() };
  } catch {
    return { ...refused, status: 0 };
  }
}

type Listener = (event: object) => void;

/** Returns a class with the part of the browser's `Worker` that the agent uses. */
export function webWorkers(origin: string, bootstrap: URL): typeof globalThis.Worker {
  class WebWorker {
    readonly #thread: Worker;
    #isTerminated = false;
    readonly #listeners: Record<string, Listener[]> = { message: [], error: [] };

    constructor(script: URL | string) {
      const { port1, port2 } = new MessageChannel();
      port1.on("message", async (wanted: Wanted) => {
        const fetched = await fetchFile(origin, wanted);
        port1.postMessage(fetched, [fetched.bytes]);
      });
      this.#thread = new Worker(bootstrap, {
        workerData: { origin, script: String(script), files: port2 } satisfies ThreadStart,
        transferList: [port2],
        env: {},
        // Python's output arrives as messages. Without these options, the thread's own output would mix with the lines
        // that the main thread prints.
        stdout: true,
        stderr: true,
      });
      this.#thread.stdout.resume();
      this.#thread.stderr.resume();
      this.#thread.on("message", (data: unknown) => this.#tell("message", { data }));
      this.#thread.on("error", (error) => this.#fail(String(error)));
      this.#thread.on("exit", (code) => {
        if (!this.#isTerminated) this.#fail(`The thread has ended with ${code}.`);
      });
    }

    addEventListener(type: string, listener: Listener): void {
      this.#listeners[type]?.push(listener);
    }

    postMessage(message: unknown, transfer: ArrayBuffer[] = []): void {
      this.#thread.postMessage(message, transfer);
    }

    terminate(): void {
      this.#isTerminated = true;
      void this.#thread.terminate();
    }

    #fail(message: string): void {
      this.#tell("error", { message, preventDefault: () => {} });
    }

    #tell(type: string, event: object): void {
      for (const listener of this.#listeners[type] ?? []) listener(event);
    }
  }
  return WebWorker as unknown as typeof globalThis.Worker;
}
