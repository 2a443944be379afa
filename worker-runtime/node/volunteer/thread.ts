// The python thread of a volunteer in Node: makes this thread look like a browser's worker and imports python-thread.ts.
// Node, worker thread.
//
// A browser's policy keeps trial code from importing anything. Here a hook does it: once the runtime is loaded,
// `import` finds only the runtime's two scripts. The hook compares texts and calls no method, because trial code can
// replace the methods of this thread. lockDown of python-thread.ts removes the global names that trial code must not
// use. Node's own `fetch` is never used here: its open connections would need names that are removed.

import { createHash } from "node:crypto";
import { registerHooks } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { RuntimeIndex } from "../../src/python/messages.ts";
import { actAsBrowser, define } from "./browser_globals.ts";
import type { Fetched, ThreadStart, Wanted } from "./web_worker.ts";

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread.");
const { origin, script, files } = workerData as ThreadStart;
const fetching = new Map<number, (fetched: Fetched) => void>();
files.on("message", (fetched: Fetched) => fetching.get(fetched.id)?.(fetched));

async function fetchByMainThread(input: string | URL | Request): Promise<Response> {
  const id = fetching.size + 1;
  const url = input instanceof Request ? input.url : String(input);
  const { status, type, bytes } = await new Promise<Fetched>((resolve) => {
    fetching.set(id, resolve);
    files.postMessage({ id, url } satisfies Wanted);
  });
  if (status === 0) throw new TypeError(`${url} cannot be reached.`);
  return new Response(bytes, { status, headers: { "content-type": type } });
}

actAsBrowser(origin, fetchByMainThread);

interface Script {
  readonly url: string;
  readonly source: string;
}
const scripts: Script[] = [];
let isSealed = false;

registerHooks({
  resolve(specifier, context, next) {
    for (let i = 0; i < scripts.length; i += 1) {
      if (scripts[i]?.url === specifier) {
        return { url: specifier, format: "module", shortCircuit: true };
      }
    }
    if (isSealed) throw new Error("A trial cannot import modules of JavaScript.");
    return next(specifier, context);
  },
  load(url, context, next) {
    for (let i = 0; i < scripts.length; i += 1) {
      const found = scripts[i];
      if (found?.url === url) {
        return { format: "module", source: found.source, shortCircuit: true };
      }
    }
    return next(url, context);
  },
});

/** Fetches and verifies Pyodide's scripts, because Node's `import` cannot fetch. */
async function fetchScripts(): Promise<void> {
  const answer = await fetch("/runtime/index.json");
  if (!answer.ok) throw new Error(`/runtime/index.json: the server answered ${answer.status}.`);
  const { pieces } = (await answer.json()) as RuntimeIndex;
  const core = pieces.pyodide;
  if (core === undefined) throw new Error("The runtime's index has no Pyodide.");
  for (const { name, sha256 } of core.files) {
    if (!name.endsWith(".mjs")) continue;
    const { href } = new URL(core.base + name, origin);
    const file = await fetch(href);
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (!file.ok || createHash("sha256").update(bytes).digest("hex") !== sha256) {
      throw new Error(`${href} is not what the runtime's index says.`);
    }
    scripts.push({ url: href, source: new TextDecoder().decode(bytes) });
  }
}

type Listener = (event: { readonly data: unknown; readonly isTrusted: boolean }) => void;
const listeners: Listener[] = [];
const waiting: unknown[] = [];
let isReady = false;

function hear(data: unknown): void {
  for (const listener of listeners) listener({ data, isTrusted: true });
}

port.on("message", (data: unknown) => {
  if (isReady) hear(data);
  else waiting.push(data);
});
define("addEventListener", (type: string, listener: Listener) => {
  if (type === "message") listeners.push(listener);
});
define("removeEventListener", () => {});
define("dispatchEvent", () => true);
define("postMessage", (message: { readonly kind: string }, transfer: ArrayBuffer[] = []) => {
  if (message.kind === "loaded") seal();
  port.postMessage(message, transfer);
});

/** Hides Node's objects. It runs after lockDown and before any code of a trial. */
function seal(): void {
  isSealed = true;
  files.close();
}

/** If a thread has these classes and no `process`, Pyodide treats it as a browser's worker. */
function WorkerGlobalScope(): void {}
Object.defineProperty(WorkerGlobalScope, Symbol.hasInstance, {
  value: (value: unknown) => value === globalThis,
});
define("WorkerGlobalScope", WorkerGlobalScope);
define("DedicatedWorkerGlobalScope", WorkerGlobalScope);

await fetchScripts();
for (const name of ["process", "global"]) Reflect.deleteProperty(globalThis, name);
// Node stores objects in globals whose keys are symbols, such as the dispatcher of its `fetch`. Those that cannot be
// deleted are set to undefined.
for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
  if (typeof Reflect.get(globalThis, symbol) !== "object") continue;
  if (!Reflect.deleteProperty(globalThis, symbol)) Reflect.set(globalThis, symbol, undefined);
}
await import(/* @vite-ignore */ script);
isReady = true;
for (const data of waiting.splice(0)) hear(data);
