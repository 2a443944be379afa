// The python thread of `./run python --host node`: one Pyodide in a worker thread, which runs one script and ends. Mounted
// folders are the real ones, so the script's changes to them stay.

import { readdirSync, readFileSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parentPort, Worker, workerData } from "node:worker_threads";
import type { ThreadStart } from "../src/python/arraycore/arraycore_threads.ts";
import { InterruptBuffer } from "../src/python/interrupt_buffer.ts";
import type { PyodideModule } from "../src/python/pyodide_api.ts";
import {
  connectArraycore,
  connectStreams,
  type FromScriptThread,
  moduleFile,
  runScript,
  type ScriptJob,
  type ScriptPyodide,
  SITE_PACKAGES,
  unpackWheel,
  writeCopy,
} from "../src/python/script/run_script.ts";
import { ARRAYCORE_MODULES, ARRAYCORE_PACKAGE, runtimePlaces } from "./places.ts";

export interface ThreadData {
  readonly job: ScriptJob;
  readonly mounts: readonly string[];
  readonly wheels: readonly string[];
  /** One byte that Pyodide reads: the value 2 requests a KeyboardInterrupt. */
  readonly interrupt: SharedArrayBuffer;
  readonly hasGpu: boolean;
  /** Whether the script gets `_arraycore_hooks`. */
  readonly hasHooks: boolean;
}

interface NodePyodide extends ScriptPyodide {
  mountNodeFS(path: string, folder: string): void;
}

const { job, mounts, wheels, interrupt, hasGpu, hasHooks } = workerData as ThreadData;
const post = (message: FromScriptThread) => parentPort?.postMessage(message);

// Reads descriptor 0 directly, because Pyodide cannot use the `process.stdin` of a worker thread.
function read(bytes: Uint8Array): number {
  try {
    return readSync(0, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EOF") return 0;
    throw error;
  }
}

// Writes directly to the process's output, because a message would wait for the main thread's event loop. While a pipe is
// full, it tries again.
function write(stream: 1 | 2, bytes: Uint8Array): void {
  let rest = bytes;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(stream, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

// The helper threads are workers of this thread and end with it.
function startThread(start: ThreadStart): Promise<void> {
  const worker = new Worker(new URL("./arraycore_thread_node.ts", import.meta.url), {
    workerData: start,
  });
  return new Promise((done, fail) => {
    worker.once("message", () => {
      worker.off("error", fail);
      worker.unref();
      done();
    });
    worker.once("error", fail);
  });
}

// Returns a plain Uint8Array, because Pyodide does not know Node's Buffer.
function bytesOf(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(path));
}

async function main(): Promise<number> {
  const places = runtimePlaces();
  const module = (await import(
    pathToFileURL(join(places.core, "pyodide.mjs")).href
  )) as PyodideModule;
  const pyodide = (await module.loadPyodide({
    indexURL: `${places.core}/`,
    lockFileURL: join(places.core, "pyodide-lock.json"),
    packageBaseUrl: `${places.core}/`,
    stdout: () => {},
    stderr: () => {},
  })) as NodePyodide;
  connectStreams(pyodide, { read, write });
  const interrupts = new InterruptBuffer(new Uint8Array(interrupt));
  pyodide.setInterruptBuffer(interrupts);
  for (const archive of places.archives) {
    pyodide.unpackArchive(bytesOf(archive), "zip", { extractDir: SITE_PACKAGES });
  }
  for (const wheel of wheels) unpackWheel(pyodide, bytesOf(wheel));
  for (const folder of mounts) {
    pyodide.FS.mkdirTree(folder);
    pyodide.mountNodeFS(folder, folder);
  }
  for (const name of readdirSync(ARRAYCORE_PACKAGE, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".py")) continue;
    const path = join(ARRAYCORE_PACKAGE, name);
    const target = join(SITE_PACKAGES, "arraycore", name);
    writeCopy(pyodide, target, bytesOf(path), statSync(path).mtimeMs);
  }
  const closeArraycore = await connectArraycore(pyodide, {
    code: bytesOf(join(ARRAYCORE_MODULES, moduleFile(job))),
    job,
    interrupt: interrupts,
    toGpu: hasGpu ? (message) => post({ kind: "gpu", message }) : null,
    startThread,
  });
  if (hasHooks) {
    const { hooksModule } = await import("../src/python/script/hooks.fixture.ts");
    const module = hooksModule((request) => post({ kind: "hook", request }));
    pyodide.registerJsModule("_arraycore_hooks", module);
  }
  const code = runScript(pyodide, job);
  closeArraycore();
  return code;
}

main().then(
  (code) => post({ kind: "ended", code }),
  (error: unknown) => {
    write(2, new TextEncoder().encode(`${error instanceof Error ? error.stack : String(error)}\n`));
    post({ kind: "ended", code: 70 });
  },
);
