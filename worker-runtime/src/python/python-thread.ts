// The python thread: a module worker that the agent starts, one Pyodide in it. It blocks in Python for as long as an
// objective runs; the agent reaches it through shared memory only (channel/), or ends it. Where no memory can be shared
// Python stands still by JSPI instead, and messages are heard meanwhile. The server gives this file a Content-Security-Policy
// of its own by its name, which must stay `python-thread...`.

import { openBlock, Word } from "../channel/block.ts";
import { arraycoreHost } from "./arraycore/arraycore_host.ts";
import { loadArraycore } from "./arraycore/arraycore_module.ts";
import { Assets } from "./assets.ts";
import { Bridge } from "./bridge.ts";
import { limitHeap } from "./heap_limit.ts";
import { Interpreter } from "./interpreter.ts";
import { lockDown } from "./lockdown.ts";
import {
  type ArraycoreParts,
  type AttemptSpec,
  type FromPython,
  OUTCOME_CHARACTERS,
  type ToPython,
} from "./messages.ts";
import { Output } from "./output.ts";
import { PromisingBridge } from "./promising_bridge.ts";
import type { PyodideApi } from "./pyodide_api.ts";

declare const self: DedicatedWorkerGlobalScope;

// Kept from trial code, which must not speak for this thread.
const postMessage = self.postMessage.bind(self);
const post = (message: FromPython, transfer: Transferable[] = []) => postMessage(message, transfer);
/** Whoever speaks from within Python lets lines go that waited for their second. */
const postFromPython = (message: FromPython, transfer: Transferable[] = []) => {
  output.catchUp();
  post(message, transfer);
};
const debug = console.debug.bind(console);
// The attempt whose lines these are; 0: none runs.
let printing = 0;
const output = new Output(
  (text) => {
    debug(text);
    if (printing !== 0) post({ kind: "output", attempt: printing, text });
  },
  () => performance.now(),
);

let loading: Promise<Interpreter> | null = null;
let bridge: Bridge | PromisingBridge | null = null;
let interrupt: Uint8Array = new Uint8Array(1);
let heapBytes = 0;
/** Why array-core does not run here although it was handed over; null: it does. */
let withoutArraycore: string | null = null;
/** array-core trapped: it serves no further attempt, and a module beside it in this Pyodide would not be the same. */
let hasArraycoreEnded = false;

self.addEventListener("message", (event: MessageEvent<ToPython>) => {
  // Trial code can make events of its own for this listener.
  if (!event.isTrusted) return;
  const message = event.data;
  switch (message.kind) {
    case "load":
      loading ??= load(message);
      loading.catch(crash);
      break;
    case "run":
      loading?.then((interpreter) => run(interpreter, message)).catch(crash);
      break;
    case "answer":
    case "taken":
    case "interrupt":
      if (bridge instanceof PromisingBridge) bridge.hear(message);
      break;
    default:
      message satisfies never;
  }
});

async function load(message: Extract<ToPython, { kind: "load" }>): Promise<Interpreter> {
  const timings: Record<string, number> = {};
  const mark = (step: string) => {
    timings[step] = Math.round(performance.now());
  };
  mark("begun");
  heapBytes = message.heapBytes;
  limitHeap(heapBytes);
  const assets = new Assets((loaded, total) => post({ kind: "loading", loaded, total }));
  const [core, ...packages] = message.pieces;
  // Scripts are fetched by their import; the rest by us.
  if (core !== undefined) {
    assets.begin(
      core,
      core.files.filter((file) => !file.name.endsWith(".mjs")),
    );
  }
  for (const piece of packages) assets.begin(piece);
  const interpreter = await Interpreter.load({
    assets,
    pieces: message.pieces,
    output,
    mark,
    prepare: (pyodide) => prepare(pyodide, message.memory),
  });
  lockDown(self, navigator);
  Object.defineProperty(self, "console", { value: output.console(), writable: false });
  post({ kind: "loaded", timings });
  return interpreter;
}

function prepare(pyodide: PyodideApi, memory: SharedArrayBuffer | null): void {
  if (memory === null) {
    pyodide.setInterruptBuffer(interrupt);
    const now = () => performance.now();
    bridge = new PromisingBridge({ post: postFromPython, now, interrupt });
  } else {
    const block = openBlock(memory);
    Atomics.store(block.header, Word.interrupt, 0);
    interrupt = block.interrupt;
    pyodide.setInterruptBuffer(interrupt);
    bridge = new Bridge(block, postFromPython, () => pyodide.checkInterrupt());
  }
  pyodide.registerJsModule("_hyperflock_bridge", bridge.module);
}

async function run(
  interpreter: Interpreter,
  message: Extract<ToPython, { kind: "run" }>,
): Promise<void> {
  const { attempt } = message.spec;
  if (message.arraycore !== null)
    withoutArraycore = await tryArraycore(interpreter, message.arraycore);
  for (const archive of message.packages) interpreter.addPackage(archive);
  bridge?.begin(attempt);
  // What waits was printed before it.
  output.flush();
  printing = attempt;
  const startedAt = performance.now();
  const outcome = await outcomeOf(interpreter, { ...message, spec: offered(message.spec) });
  output.flush();
  printing = 0;
  const runMs = performance.now() - startedAt;
  post({ kind: "outcome", attempt, outcome, runMs, isLast: hasArraycoreEnded });
}

// Before any code of the study runs here. A trial gets array-core's functions; its memory and the way to the gpu thread stay
// with this script.
async function addArraycore(
  interpreter: Interpreter,
  { module, archive }: ArraycoreParts,
): Promise<void> {
  const isShared = bridge instanceof Bridge;
  const loaded = await loadArraycore(module, {
    // Its memory is beside Python's heap, and as large at most.
    maximumBytes: heapBytes,
    host: {
      attach(memory, controlAddress) {
        if (!isShared) return false;
        post({ kind: "gpu", message: { kind: "open", memory, controlAddress } });
        return true;
      },
      wakeByMessage: () => post({ kind: "gpu", message: { kind: "wake" } }),
      takeInterrupt: () => Atomics.exchange(interrupt, 0, 0) !== 0,
    },
    print: (text) => output.line(text),
    ended: () => {
      hasArraycoreEnded = true;
    },
  });
  interpreter.addHostedPackage(archive, "_arraycore_host", arraycoreHost(loaded));
}

/** Null, or why array-core cannot run here: plain NumPy can. */
async function tryArraycore(
  interpreter: Interpreter,
  parts: ArraycoreParts,
): Promise<string | null> {
  try {
    await addArraycore(interpreter, parts);
    return null;
  } catch (error) {
    debug(String(error));
    return codeOf(error) ?? "arraycore_failed";
  }
}

/** The attempt with the offer that holds on this thread. */
function offered(spec: AttemptSpec): AttemptSpec {
  if (spec.device === null || withoutArraycore === null) return spec;
  const reasons = { webgpu: withoutArraycore, cpu: withoutArraycore };
  return { ...spec, device: { ...spec.device, backends: [], reasons } };
}

// The text is the runner's, whose Python trial code can change: the agent is not to be filled with it. A runner that raises
// has been changed, too; Pyodide lives. No text is an outcome that the agent knows as malformed.
async function outcomeOf(
  interpreter: Interpreter,
  job: Extract<ToPython, { kind: "run" }>,
): Promise<string> {
  try {
    const promises = bridge instanceof PromisingBridge;
    const outcome = promises ? await interpreter.runPromising(job) : interpreter.run(job);
    return outcome.length <= OUTCOME_CHARACTERS ? outcome : "";
  } catch (error) {
    if (error instanceof Error && error.name === "PythonError") return "";
    throw error;
  }
}

// run_attempt never raises: what arrives here is the end of this Pyodide, or of its loading.
function crash(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  output.flush();
  const isMemory = /out of memory|allocation failed|cannot allocate/i.test(message);
  const code = codeOf(error) ?? (isMemory ? "out_of_memory" : "runtime_crashed");
  post({ kind: "crashed", code, message: message.slice(-1_000) });
}

function codeOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
