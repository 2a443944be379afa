// Runs `./run python --host chromium`: the python thread is a worker of a page in Debian's Chromium. Node, main thread.

import { statSync, writeSync } from "node:fs";
import { join, relative } from "node:path";
import type { FromGpuThread, ToGpuThread } from "../src/gpu/thread/gpu_messages.ts";
import type { GpuWorkerEvents } from "../src/gpu/thread/gpu_owner.ts";
import { type FromScriptThread, SITE_PACKAGES } from "../src/python/script/run_script.ts";
import type { BrowserScript, FileCopy } from "../src/python/script/script_thread.ts";
import { launchChromium } from "./chromium.ts";
import type { Script } from "./node_host.ts";
import type { Options } from "./options.ts";
import { ARRAYCORE_MODULES, ARRAYCORE_PACKAGE, RUNTIME, runtimePlaces } from "./places.ts";
import { filesBelow, ScriptServer } from "./script_server.ts";

type OwnerModule = typeof import("../src/gpu/thread/gpu_owner.ts");
type HooksModule = typeof import("../src/python/script/hooks.fixture.ts");

type PageScript = Omit<BrowserScript, "interrupt">;

/** Runs the script and returns its exit code. The first Ctrl-C interrupts Python, the second ends the process. */
export async function runInChromium(data: Script, backend: Options["backend"]): Promise<number> {
  const places = runtimePlaces();
  const read = [...data.mounts, RUNTIME, ARRAYCORE_PACKAGE, ARRAYCORE_MODULES, ...data.wheels];
  const server = await ScriptServer.start({ read, write: data.mounts }, (stream, bytes) => {
    writeSync(stream, bytes);
  });
  const browser = await launchChromium({
    webgpu: backend === "webgpu",
    webgl2: backend === "webgl2",
    // By default, Playwright ends the browser at once when Ctrl-C is pressed.
    handleSIGINT: false,
  });
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => console.error(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") console.error(message.text());
    });
    await page.goto(server.base);
    const script: PageScript = {
      job: data.job,
      files: `${server.base}file/`,
      output: `${server.base}output/`,
      core: places.core,
      archives: places.archives,
      wheels: data.wheels,
      arraycore: ARRAYCORE_MODULES,
      copies: copiesOf(data),
      mounts: data.mounts,
      hasGpu: backend !== "cpu",
      hasHooks: data.hasHooks,
    };
    let asked = false;
    const onInterrupt = () => {
      if (asked) process.exit(130);
      asked = true;
      void page.evaluate(() => Reflect.get(globalThis, "interruptPython")());
    };
    process.on("SIGINT", onInterrupt);
    try {
      return await page.evaluate(startPython, {
        script,
        thread: "src/python/script/script_thread.ts",
        gpuThread: data.hasHooks
          ? "src/gpu/testing/gpu_hooks_browser.fixture.ts"
          : "src/gpu/thread/gpu-thread.ts",
        owner: `${server.base}src/gpu/thread/gpu_owner.ts`,
        hooks: `${server.base}src/python/script/hooks.fixture.ts`,
      });
    } finally {
      process.off("SIGINT", onInterrupt);
    }
  } finally {
    await browser.close();
    server.close();
  }
}

/** Returns the files to copy to the thread: the mounted files, arraycore's package, and the compiled files of both. */
function copiesOf({ mounts, job }: Script): FileCopy[] {
  const copy = (from: string, to: string) => ({ from, to, changedMs: statSync(from).mtimeMs });
  const sources = [
    ...mounts
      .filter((folder) => folder !== job.bytecode)
      .flatMap((folder) => filesBelow(folder).map((path) => copy(path, path))),
    ...filesBelow(ARRAYCORE_PACKAGE)
      .filter((path) => path.endsWith(".py"))
      .map((path) =>
        copy(path, join(SITE_PACKAGES, "arraycore", relative(ARRAYCORE_PACKAGE, path))),
      ),
  ];
  const places = new Set(sources.map(({ to }) => to));
  const compiled = filesBelow(job.bytecode).filter((path) => {
    const [source] = path.slice(job.bytecode.length).split(".cpython-");
    return source?.startsWith(SITE_PACKAGES) || places.has(`${source}.py`);
  });
  return [...sources, ...compiled.map((path) => copy(path, path))];
}

interface PageThreads {
  readonly script: PageScript;
  readonly thread: string;
  readonly gpuThread: string;
  /**
   * The URLs of two modules: the one that owns the gpu thread, and the one with the test hooks. The function that runs
   * in the page imports from them, because it cannot use this file's imports.
   */
  readonly owner: string;
  readonly hooks: string;
}

// Playwright runs this function in the page, so it cannot use anything else of this file.
async function startPython(threads: PageThreads): Promise<number> {
  const { script, thread, gpuThread } = threads;
  // The buffer of a shared WebAssembly.Memory is a SharedArrayBuffer, even if an engine hides that constructor from
  // pages.
  const shared = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const interrupt = new Uint8Array(shared.buffer, 0, 1);
  Reflect.set(globalThis, "interruptPython", () => Atomics.store(interrupt, 0, 2));
  const { GpuThreadOwner }: OwnerModule = await import(threads.owner);
  let newest: { worker: Worker; events: GpuWorkerEvents } | undefined;
  const start = (events: GpuWorkerEvents) => {
    const worker = new Worker(gpuThread, { type: "module" });
    newest = { worker, events };
    worker.addEventListener("message", (event: MessageEvent<FromGpuThread>) =>
      events.said(event.data),
    );
    worker.addEventListener("error", (event) =>
      events.ended(`The gpu thread has failed: ${event.message}`),
    );
    return {
      post: (message: ToGpuThread) => worker.postMessage(message),
      terminate: async () => worker.terminate(),
    };
  };
  const owner = script.hasGpu ? new GpuThreadOwner(start, (text) => console.error(text)) : null;
  const hooks: HooksModule | null = script.hasHooks ? await import(threads.hooks) : null;
  const worker = new Worker(thread, { type: "module" });
  worker.postMessage({ ...script, interrupt });
  return new Promise<number>((done, fail) => {
    worker.addEventListener("message", ({ data }: MessageEvent<FromScriptThread>) => {
      switch (data.kind) {
        case "gpu":
          owner?.receive(data.message);
          break;
        case "hook":
          if (owner === null) break;
          hooks?.applyHook(data.request, {
            owner,
            postToGpu: (message) => newest?.worker.postMessage(message),
            endGpu: async () => {
              newest?.worker.terminate();
              newest?.events.ended("The gpu thread has ended.");
            },
          });
          break;
        case "ended":
          done(data.code);
          break;
        default:
          data satisfies never;
      }
    });
    worker.addEventListener("error", (event) =>
      fail(new Error(`A thread did not start: ${event.message}`)),
    );
  });
}
