// The python thread of `./run python --host chromium`: a module worker of an isolated page with one Pyodide, which runs one
// script and ends. Mounted files are copied in before the run. New and changed files are copied back after it.

import type { ThreadStart } from "../arraycore/arraycore_threads.ts";
import { InterruptBuffer } from "../interrupt_buffer.ts";
import type { PyodideModule } from "../pyodide_api.ts";
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
} from "./run_script.ts";

declare const self: DedicatedWorkerGlobalScope;

export interface BrowserScript {
  readonly job: ScriptJob;
  /** The URL below which files are read and written by their absolute paths. */
  readonly files: string;
  readonly output: string;
  /** Pyodide's folder. */
  readonly core: string;
  /** The archives and wheels that are unpacked into site-packages. */
  readonly archives: readonly string[];
  readonly wheels: readonly string[];
  /** The folder of array-core's modules. */
  readonly arraycore: string;
  readonly copies: readonly FileCopy[];
  /** Folders whose changes are copied back. */
  readonly mounts: readonly string[];
  readonly interrupt: Uint8Array;
  readonly hasGpu: boolean;
  /** Whether the script gets `_arraycore_hooks`. */
  readonly hasHooks: boolean;
}

/** A file to copy in: its URL, its path, and the time of its last change in ms since 1970. */
export interface FileCopy {
  readonly from: string;
  readonly to: string;
  readonly changedMs: number;
}

const post = (message: FromScriptThread) => self.postMessage(message);

const FETCHES_AT_ONCE = 16;

// The helper threads are workers of this thread and end with it.
function startThread(start: ThreadStart): Promise<void> {
  const worker = new Worker(new URL("../arraycore/arraycore-thread.ts", import.meta.url), {
    type: "module",
  });
  return new Promise((done, fail) => {
    worker.addEventListener("message", () => done(), { once: true });
    worker.addEventListener("error", (event) => fail(new Error(event.message)), { once: true });
    worker.postMessage(start);
  });
}

self.addEventListener("message", (event: MessageEvent<BrowserScript>) => {
  main(event.data).then(
    (code) => post({ kind: "ended", code }),
    (error: unknown) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      write(event.data.output, 2, new TextEncoder().encode(`${text}\n`));
      post({ kind: "ended", code: 70 });
    },
  );
});

async function main(script: BrowserScript): Promise<number> {
  const address = (path: string) =>
    script.files + path.slice(1).split("/").map(encodeURIComponent).join("/");
  const bytesOf = async (path: string): Promise<Uint8Array<ArrayBuffer>> => {
    const response = await fetch(address(path));
    if (!response.ok) throw new Error(`${path}: the local server answered ${response.status}.`);
    return new Uint8Array(await response.arrayBuffer());
  };
  const core = `${address(script.core)}/`;
  const module = (await import(/* @vite-ignore */ `${core}pyodide.mjs`)) as PyodideModule;
  const pyodide = (await module.loadPyodide({
    indexURL: core,
    lockFileURL: `${core}pyodide-lock.json`,
    packageBaseUrl: core,
    stdout: () => {},
    stderr: () => {},
  })) as ScriptPyodide;
  connectStreams(pyodide, {
    read: () => 0,
    write: (stream, bytes) => write(script.output, stream, bytes),
  });
  const interrupt = new InterruptBuffer(script.interrupt);
  pyodide.setInterruptBuffer(interrupt);
  for (const archive of script.archives) {
    pyodide.unpackArchive(await bytesOf(archive), "zip", { extractDir: SITE_PACKAGES });
  }
  for (const wheel of script.wheels) unpackWheel(pyodide, await bytesOf(wheel));
  for (const folder of [...script.mounts, script.job.folder]) pyodide.FS.mkdirTree(folder);
  for (let i = 0; i < script.copies.length; i += FETCHES_AT_ONCE) {
    const some = script.copies.slice(i, i + FETCHES_AT_ONCE);
    const contents = await Promise.all(some.map(({ from }) => bytesOf(from)));
    for (const [k, { to, changedMs }] of some.entries()) {
      writeCopy(pyodide, to, contents[k] as Uint8Array, changedMs);
    }
  }
  const closeArraycore = await connectArraycore(pyodide, {
    code: await bytesOf(`${script.arraycore}/${moduleFile(script.job)}`),
    job: script.job,
    interrupt,
    toGpu: script.hasGpu ? (message) => post({ kind: "gpu", message }) : null,
    startThread,
  });
  if (script.hasHooks) {
    const { hooksModule } = await import("./hooks.fixture.ts");
    const module = hooksModule((request) => post({ kind: "hook", request }));
    pyodide.registerJsModule("_arraycore_hooks", module);
  }
  const changes = new Changes(pyodide, script.mounts);
  const code = runScript(pyodide, script.job);
  closeArraycore();
  // The script has ended, so a Ctrl-C must not interrupt Python any more.
  pyodide.setInterruptBuffer(undefined);
  for (const path of changes.since()) {
    const stored = await fetch(address(path), {
      method: "PUT",
      body: new Uint8Array(pyodide.FS.readFile(path)),
    });
    if (!stored.ok) throw new Error(`${path} could not be written back (${stored.status}).`);
  }
  return code;
}

// The request is synchronous, because Python may block the thread for hours.
function write(output: string, stream: 1 | 2, bytes: Uint8Array): void {
  const request = new XMLHttpRequest();
  request.open("POST", output + stream, false);
  request.send(new Uint8Array(bytes));
}

/** Finds the files below some folders that are new, or whose time or size has changed, since this object was made. */
class Changes {
  readonly #list: () => Map<string, string>;
  readonly #before: Map<string, string>;

  constructor(pyodide: ScriptPyodide, folders: readonly string[]) {
    const list = pyodide.runPython(LIST_FILES) as (folders: string) => string;
    this.#list = () =>
      new Map(Object.entries(JSON.parse(list(JSON.stringify(folders))) as Record<string, string>));
    this.#before = this.#list();
  }

  since(): string[] {
    return [...this.#list()]
      .filter(([path, state]) => this.#before.get(path) !== state)
      .map(([path]) => path);
  }
}

const LIST_FILES = `
def _list_files(folders):
    import json, os
    found = {}
    for folder in json.loads(folders):
        for parent, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(parent, name)
                state = os.stat(path)
                found[path] = f"{state.st_mtime_ns} {state.st_size}"
    return json.dumps(found)

_list_files
`;
