// Runs the ring in Chromium, for tests and benchmarks. It bundles the scripts of the two workers, serves them on
// loopback with the headers of isolation, and drives a page that owns both workers. Runs in Node, on the test's thread.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { launchChromium } from "../../../node/chromium.ts";
import type { ToIssuer } from "./browser_issuer.fixture.ts";

// The page's own thread only owns the workers: it passes on messages and never blocks.
const PAGE = `<!doctype html><title>ring</title><script type="module">
const ask = (worker, message) => new Promise((resolve, reject) => {
  worker.onmessage = ({ data }) => "error" in data ? reject(new Error(data.error)) : resolve(data.value);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(message);
});
globalThis.runInRing = async (options, message) => {
  const issuer = new Worker("/issuer.js", { type: "module" });
  const gpu = new Worker("/gpu.js", { type: "module" });
  try {
    const { memory, controlAddress } = await ask(issuer, { kind: "make", ...options });
    gpu.postMessage({ kind: "open", memory, controlAddress });
    return await ask(issuer, message);
  } finally {
    issuer.terminate();
    gpu.terminate();
  }
};
</script>`;

export interface RingPage {
  run<T>(options: object, message: ToIssuer): Promise<T>;
  close(): Promise<void>;
}

/** Adds the scripts of a worker to `files`: its first one as `name`, and those that it imports when it needs them. */
async function bundle(files: Map<string, string>, name: string, entry: string): Promise<void> {
  const input = fileURLToPath(new URL(entry, import.meta.url));
  const result = await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true, target: "webworker" },
    build: {
      write: false,
      minify: false,
      target: "esnext",
      // Otherwise Vite adds code for pages, which no worker can run.
      ssr: true,
      rolldownOptions: { input },
    },
  });
  const [first] = Array.isArray(result) ? result : [result];
  const chunks = first !== undefined && "output" in first ? first.output : [];
  for (const chunk of chunks)
    if (chunk.type === "chunk") files.set(chunk.isEntry ? name : `/${chunk.fileName}`, chunk.code);
  if (!files.has(name)) throw new Error(`${entry} gave no bundle`);
}

export async function openRingPage(gpu: "webgpu" | "webgl2" = "webgpu"): Promise<RingPage> {
  const files = new Map([["/", PAGE]]);
  await bundle(files, "/issuer.js", "./browser_issuer.fixture.ts");
  await bundle(files, "/gpu.js", "../thread/gpu-thread.ts");
  const server = createServer((request, response) => {
    const body = files.get(request.url ?? "");
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": request.url === "/" ? "text/html" : "text/javascript",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-embedder-policy": "require-corp",
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const browser = await launchChromium({ [gpu]: true });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  return {
    run: <T>(options: object, message: ToIssuer): Promise<T> =>
      page.evaluate(
        ([first, second]) =>
          (
            globalThis as unknown as { runInRing: (a: unknown, b: unknown) => Promise<T> }
          ).runInRing(first, second),
        [options, message] as const,
      ) as Promise<T>,
    async close() {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
