// Loads Pyodide and its packages, and runs attempts in it. Runs on the python thread.

import type { Assets } from "./assets.ts";
import type { RuntimePiece, ToPython } from "./messages.ts";
import type { Output } from "./output.ts";
import type { PyCallable, PyodideApi, PyodideModule } from "./pyodide_api.ts";

const SITE_PACKAGES = `
import sys
next(path for path in sys.path if path.endswith("/site-packages"))
`;

// Loading includes the import of Chainer, because it takes longest and every trial needs it.
const WARM_UP = `
from hyperflock_worker import compat
from hyperflock_worker.runner import run_attempt
compat.install()
import chainer
run_attempt
`;

type Run = Extract<ToPython, { kind: "run" }>;

export interface InterpreterOptions {
  readonly assets: Assets;
  /** First Pyodide, then the packages in the order of their imports. */
  readonly pieces: readonly RuntimePiece[];
  readonly output: Output;
  readonly mark: (step: string) => void;
  readonly prepare: (pyodide: PyodideApi) => void;
}

export class Interpreter {
  readonly #pyodide: PyodideApi;
  readonly #extractDir: string;
  readonly #run: PyCallable;

  private constructor(pyodide: PyodideApi, extractDir: string, run: PyCallable) {
    this.#pyodide = pyodide;
    this.#extractDir = extractDir;
    this.#run = run;
  }

  static async load(options: InterpreterOptions): Promise<Interpreter> {
    const { assets, mark } = options;
    const [core, ...packages] = options.pieces;
    if (core === undefined) throw new Error("The runtime's index has no Pyodide.");
    const pyodide = await loadCore(core, assets, options.output);
    assets.codeArrived();
    mark("pyodide");
    pyodide.setStdout({ write: options.output.stream() });
    pyodide.setStderr({ write: options.output.stream() });
    options.prepare(pyodide);
    const extractDir = String(pyodide.runPython(SITE_PACKAGES));
    for (const piece of packages) {
      const archive = await assets.bytesOf(piece);
      pyodide.unpackArchive(archive, "zip", { extractDir });
    }
    mark("unpacked");
    const run = pyodide.runPython(WARM_UP) as PyCallable;
    mark("imported");
    return new Interpreter(pyodide, extractDir, run);
  }

  /** Unpacks a package that not every trial needs. */
  addPackage(archive: Uint8Array): void {
    this.#pyodide.unpackArchive(archive, "zip", { extractDir: this.#extractDir });
  }

  /** Unpacks a package that imports the JavaScript module `hostName`. */
  addHostedPackage(archive: Uint8Array, hostName: string, host: object): void {
    this.#pyodide.registerJsModule(hostName, host);
    this.addPackage(archive);
  }

  /** Runs the objective, blocks until it has ended, and returns the outcome's JSON text. */
  run(job: Run): string {
    return String(this.#run(...argumentsOf(job)));
  }

  /**
   * Does the same as `run`, but suspends Python while it waits for a promise (JSPI), so that this thread receives
   * messages.
   */
  async runPromising(job: Run): Promise<string> {
    return String(await this.#run.callPromising(...argumentsOf(job)));
  }
}

/** Returns the arguments of run_attempt. The checkpoint is a list with at most one item. */
function argumentsOf(
  job: Run,
): [spec: string, bundle: Uint8Array, data: object, checkpoint: object] {
  const data = Object.fromEntries(job.data.map((file) => [file.name, [file.kind, file.bytes]]));
  const from = job.checkpoint;
  const checkpoint = from === null ? [] : [[from.format, from.step ?? -1, from.bytes]];
  return [JSON.stringify(job.spec), job.bundle, data, checkpoint];
}

async function loadCore(core: RuntimePiece, assets: Assets, output: Output): Promise<PyodideApi> {
  const base = new URL(core.base, self.location.origin).href;
  const wrapped = globalThis.fetch;
  // Pyodide would fetch its files one after the other. Here it gets the responses of requests that were sent earlier.
  globalThis.fetch = (input, init) =>
    assets.take(input instanceof Request ? input.url : String(input)) ?? wrapped(input, init);
  try {
    // This import starts before pyodide.mjs is loaded. Pyodide later imports the same URL and gets the same module.
    const engine = import(/* @vite-ignore */ `${base}pyodide.asm.mjs`);
    engine.catch(() => {});
    const module = (await import(/* @vite-ignore */ `${base}pyodide.mjs`)) as PyodideModule;
    return await module.loadPyodide({
      indexURL: base,
      lockFileURL: `${base}pyodide-lock.json`,
      packageBaseUrl: base,
      stdout: (line) => output.line(line),
      stderr: (line) => output.line(line),
    });
  } finally {
    globalThis.fetch = wrapped;
  }
}
