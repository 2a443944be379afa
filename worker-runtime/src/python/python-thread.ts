// The python thread: a module worker with one Pyodide, which the agent starts. While an objective runs, Python blocks the
// thread, so the agent can only use shared memory (channel/) or end the thread. Without shared memory, JSPI suspends Python,
// and messages can arrive. The server selects a Content-Security-Policy by this file's name, so the name must stay
// `python-thread...`.

import "../platform/install.ts";
import { type FetchTiming, wireBytes } from "../base/fetch_meter.ts";
import { openBlock, Word } from "../channel/block.ts";
import { arraycoreHost } from "./arraycore/arraycore_host.ts";
import { loadArraycore } from "./arraycore/arraycore_module.ts";
import { Assets } from "./assets.ts";
import { Bridge } from "./bridge.ts";
import { limitHeap } from "./heap_limit.ts";
import { Interpreter } from "./interpreter.ts";
import { InterruptBuffer } from "./interrupt_buffer.ts";
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
import { hideDevice, type Surroundings } from "./surroundings.ts";
import { type TimerScope, Timers } from "./timers.ts";

declare const self: DedicatedWorkerGlobalScope;

// This function is hidden from trial code, which must not send messages in this thread's name.
const postMessage = self.postMessage.bind(self);
const post = (message: FromPython, transfer: Transferable[] = []) => postMessage(message, transfer);
/** Posts a message for Python code. Printed lines that the limit per second held back are written first. */
const postFromPython = (message: FromPython, transfer: Transferable[] = []) => {
  output.catchUp();
  post(message, transfer);
};
// Later, this thread's clock and its timings are hidden from trial code.
const fetchTimings = () => readEntries("resource") as FetchTiming[];
const readEntries = performance.getEntriesByType.bind(performance);
const debug = console.debug.bind(console);
// The attempt that may print; 0 if none runs.
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
let interrupt = new InterruptBuffer(new Uint8Array(1));
let heapBytes = 0;
let timers: Timers | null = null;
/** The reason why array-core cannot run here although the agent sent it; null if it runs. */
let withoutArraycore: string | null = null;
/** Whether array-core trapped. It serves no further attempt, and this Pyodide cannot load a second module. */
let hasArraycoreEnded = false;

self.addEventListener("message", (event: MessageEvent<ToPython>) => {
  // Events that trial code dispatches to this listener are ignored.
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
  // This is before Python starts, because its library asks for the time zone only once.
  hideDevice(self as unknown as Surroundings, navigator);
  const assets = new Assets((loaded, total) => post({ kind: "loading", loaded, total }));
  const [core, ...packages] = message.pieces;
  // `import` fetches scripts. This code fetches the other files.
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
  const fetchedBytes = wireBytes(fetchTimings());
  timers = new Timers(self as unknown as TimerScope);
  lockDown(self, navigator);
  Object.defineProperty(self, "console", { value: output.console(), writable: false });
  post({ kind: "loaded", timings, fetchedBytes });
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
    const shared = new Bridge(block, postFromPython, () => pyodide.checkInterrupt());
    bridge = shared;
    interrupt = new InterruptBuffer(block.interrupt, () => shared.park());
    pyodide.setInterruptBuffer(interrupt);
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
  // The lines that still wait were printed before this attempt, so they are written now.
  output.flush();
  printing = attempt;
  const startedAt = performance.now();
  const outcome = await outcomeOf(interpreter, { ...message, spec: offered(message.spec) });
  output.flush();
  printing = 0;
  timers?.endAll();
  const runMs = performance.now() - startedAt;
  post({ kind: "outcome", attempt, outcome, runMs, isLast: hasArraycoreEnded });
}

// Loads array-core before any code of the study runs. A trial gets its functions. Its memory and the connection to the
// gpu thread stay in this script.
async function addArraycore(
  interpreter: Interpreter,
  { module, archive }: ArraycoreParts,
): Promise<void> {
  const isShared = bridge instanceof Bridge;
  const loaded = await loadArraycore(module, {
    // array-core's memory is separate from Python's heap, and has the same limit.
    maximumBytes: heapBytes,
    host: {
      attach(memory, controlAddress) {
        if (!isShared) return false;
        post({ kind: "gpu", message: { kind: "open", memory, controlAddress } });
        return true;
      },
      wakeByMessage: () => post({ kind: "gpu", message: { kind: "wake" } }),
      takeInterrupt: () => interrupt.take(),
    },
    print: (text) => output.line(text),
    ended: () => {
      hasArraycoreEnded = true;
    },
  });
  interpreter.addHostedPackage(archive, "_arraycore_host", arraycoreHost(loaded));
}

/** Adds array-core. Returns null, or the reason why it cannot run here; trials then get plain NumPy. */
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

/** Returns the attempt. Of the offered devices, only those remain that this thread can use. */
function offered(spec: AttemptSpec): AttemptSpec {
  if (spec.device === null || withoutArraycore === null) return spec;
  const reasons = {
    webgpu: withoutArraycore,
    webgl2: withoutArraycore,
    cpu: withoutArraycore,
  };
  return { ...spec, device: { ...spec.device, backends: [], reasons } };
}

// Runs the attempt. Trial code can change the runner, which is Python code, so the length of its text is limited. If
// the runner raises, trial code has changed it, but Pyodide still works. Then the text is empty, which the agent treats
// as a malformed outcome.
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

// Reports a crash. run_attempt never raises, so an error means that Pyodide ended or could not load.
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
