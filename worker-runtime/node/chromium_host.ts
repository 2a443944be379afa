// `./run python --host chromium`: the python thread as a worker of a page in Debian's Chromium. Node, main thread.

import { existsSync, writeSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { chromium } from "playwright-core";
import type { FromGpuThread } from "../src/gpu/gpu_service.ts";
import { type FromScriptThread, kSitePackages } from "../src/python/run_script.ts";
import type { BrowserScript } from "../src/python/script_thread.ts";
import type { Script } from "./node_host.ts";
import type { Options } from "./options.ts";
import { ARRAYCORE_PACKAGE, ARRAYCORE_WASM, RUNTIME, runtimePlaces } from "./places.ts";
import { filesBelow, ScriptServer } from "./script_server.ts";

const kFlags = [
  "--no-sandbox",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--disable-dev-shm-usage",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

// Without a graphics card WebGPU is Chromium's software one, which has to be asked for.
const kGpuFlags = ["--enable-unsafe-webgpu"];
const kSoftwareGpuFlags = ["--use-webgpu-adapter=swiftshader"];

const hasGraphicsCard = (): boolean => existsSync("/dev/dri") || existsSync("/dev/nvidiactl");

type PageScript = Omit<BrowserScript, "interrupt">;

function chromiumPath(): string {
  const path = process.env.CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(path)) throw new Error(`No Chromium at ${path}: install it or set CHROMIUM.`);
  return path;
}

/** Runs the script to its end; gives its exit code. The first Ctrl-C is Python's, the second ends the process. */
export async function runInChromium(data: Script, backend: Options["backend"]): Promise<number> {
  const places = runtimePlaces();
  const read = [
    ...data.mounts,
    RUNTIME,
    ARRAYCORE_PACKAGE,
    dirname(ARRAYCORE_WASM),
    ...data.wheels,
  ];
  const server = await ScriptServer.start({ read, write: data.mounts }, (stream, bytes) => {
    writeSync(stream, bytes);
  });
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: [
      ...kFlags,
      ...(backend === "webgpu" ? kGpuFlags : []),
      ...(backend === "webgpu" && !hasGraphicsCard() ? kSoftwareGpuFlags : []),
    ],
    // The headless shell has no WebGPU.
    channel: "chromium",
    // Playwright's own answer to these signals would end the browser at once.
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
      archives: [...places.archives, ...data.wheels],
      arraycore: ARRAYCORE_WASM,
      copies: [
        ...data.mounts.flatMap((folder) =>
          filesBelow(folder).map((path) => ({ from: path, to: path })),
        ),
        ...packageFiles(),
      ],
      mounts: data.mounts,
      hasGpu: backend === "webgpu",
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
        thread: "src/python/script_thread.ts",
        gpuThread: "src/gpu/gpu-thread.ts",
      });
    } finally {
      process.off("SIGINT", onInterrupt);
    }
  } finally {
    await browser.close();
    server.close();
  }
}

function packageFiles(): { from: string; to: string }[] {
  return filesBelow(ARRAYCORE_PACKAGE)
    .filter((path) => path.endsWith(".py"))
    .map((path) => ({
      from: path,
      to: join(kSitePackages, "arraycore", relative(ARRAYCORE_PACKAGE, path)),
    }));
}

interface PageThreads {
  readonly script: PageScript;
  readonly thread: string;
  readonly gpuThread: string;
}

// Runs in the page, so that it may use nothing of this file.
function startPython({ script, thread, gpuThread }: PageThreads): Promise<number> {
  // A page has no SharedArrayBuffer of its own in every engine; a shared memory always has one.
  const shared = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const interrupt = new Uint8Array(shared.buffer, 0, 1);
  Reflect.set(globalThis, "interruptPython", () => Atomics.store(interrupt, 0, 2));
  const gpu = script.hasGpu ? new Worker(gpuThread, { type: "module" }) : null;
  gpu?.addEventListener("message", ({ data }: MessageEvent<FromGpuThread>) => {
    if (data.kind === "failed") console.error(data.message);
  });
  const worker = new Worker(thread, { type: "module" });
  worker.postMessage({ ...script, interrupt });
  return new Promise<number>((done, fail) => {
    worker.addEventListener("message", ({ data }: MessageEvent<FromScriptThread>) => {
      if (data.kind === "gpu") gpu?.postMessage(data.message);
      else done(data.code);
    });
    for (const each of [worker, gpu]) {
      each?.addEventListener("error", (event) =>
        fail(new Error(`A thread did not start: ${event.message}`)),
      );
    }
  });
}
