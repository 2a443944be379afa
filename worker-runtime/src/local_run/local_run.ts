// Runs one trial on a researcher's own machine (`hyperflock replay --on chromium`, dry runs), with the same host,
// threads and runtime as a volunteer's browser. The researcher's package
// (python/src/hyperflock/_execution/browser_run.py) serves the page on loopback. Relative to its own address, the page
// requests `job`, `blob/<sha256>` and `runtime/...`, and posts all events to `told`. Runs on the page thread, which it
// never blocks.

import * as v from "valibot";
import { capabilitiesOf, heapLimitOf } from "../agent/device/capabilities.ts";
import { deviceOffer, lentGpu } from "../agent/device/device_offer.ts";
import { probeGpu } from "../agent/device/gpu_probe.ts";
import * as api from "../agent/files/api.ts";
import { fetchArraycore } from "../agent/files/arraycore_parts.ts";
import { fetchOptuna } from "../agent/files/optuna_parts.ts";
import { fetchPacks } from "../agent/files/pack_parts.ts";
import type { AgentEvent } from "../agent/machine/events.ts";
import { crashOutcome } from "../agent/machine/outcome.ts";
import type { LoggedRow } from "../agent/machine/series.ts";
import { ArraycoreSide } from "../agent/python_host/arraycore_side.ts";
import { PythonHost } from "../agent/python_host/python_host.ts";
import { spawnGpu } from "../agent/python_host/spawn_gpu.ts";
import { spawnPython } from "../agent/python_host/spawn_python.ts";
import { answerText } from "../channel/block.ts";
import { type ProbeScope, sharesMemory } from "../page_contract/probe.ts";
import { type Lease, parseServerMessage } from "../protocol/index.ts";
import type { PackIndex, RuntimeIndex, RuntimePiece } from "../python/messages.ts";
import { answerTo } from "./recorded_answers.ts";

/** The page posts at least this often. If the server no longer answers, the page closes. */
const ALIVE_MS = 5_000;

const jobSchema = v.object({
  /** The version of this interface, because package and pages may be of different releases. */
  schema: v.literal(1),
  /** The lease message, which the protocol's codec reads. */
  lease: v.unknown(),
  /** The back end of array-core on which the trial computes, if this browser can run it. */
  opened: v.picklist(["webgpu", "cpu"]),
  again: v.boolean(),
  prune_at: v.nullable(v.number()),
});

type Job = v.InferOutput<typeof jobSchema>;
type Told = Readonly<Record<string, unknown>> & { readonly kind: string };

/** Posts events one after the other. Waiting lines are sent together. */
class Teller {
  readonly #lines: string[] = [];
  #last: Promise<void> = Promise.resolve();

  tell(message: Told): void {
    this.#send(() => message);
  }

  print(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length === 1) {
      this.#send(() => ({ kind: "output", lines: this.#lines.splice(0) }));
    }
  }

  #send(messageOf: () => Told): void {
    this.#last = this.#last.then(async () => {
      const body = JSON.stringify(messageOf());
      const answer = await fetch("told", { method: "POST", body }).catch(() => null);
      // The package's process has ended, so the page closes itself.
      if (answer === null) globalThis.close();
    });
  }
}

/** Runs the page's job and reports its events to the package. Never rejects. */
export async function runLocally(): Promise<void> {
  const teller = new Teller();
  const fail = (code: string, message: string) => teller.tell({ kind: "failed", code, message });
  setInterval(() => teller.tell({ kind: "alive" }), ALIVE_MS);
  try {
    const told: unknown = await (await fetch("job")).json();
    const job = v.safeParse(jobSchema, told);
    if (!job.success) {
      fail("job_unknown", "The server's pages are of another release than this package.");
      return;
    }
    await run(job.output, teller);
  } catch (error) {
    fail("cannot_run", error instanceof Error ? error.message : String(error));
  }
}

async function run(job: Job, teller: Teller): Promise<void> {
  const lease = leaseOf(job.lease);
  const isShared = sharesMemory(globalThis as ProbeScope);
  const plain = capabilitiesOf(navigator);
  const isWanted = job.opened === "webgpu" && lease.runtime.backend !== undefined;
  const facts = isWanted ? await probeGpu(navigator.gpu, pause) : undefined;
  const graphics = facts && ({ backend: "webgpu", facts } as const);
  const capabilities = capabilitiesOf(navigator, lentGpu(graphics, plain));
  const points: [step: number, value: number][] = [];
  const rows: LoggedRow[] = [];
  const end = (event: Pick<Extract<AgentEvent, { kind: "outcome" }>, "outcome"> & object) =>
    teller.tell({ ...event, kind: "ended", points, rows });
  const host = new PythonHost({
    spawn: spawnPython,
    sharesMemory: isShared,
    heapBytes: heapLimitOf(plain),
    now: () => performance.now(),
    runtimeIndex: localIndex,
    fetchBlob: async ({ sha256 }) => bytesOf(`blob/${sha256}`),
    fetchCheckpoint: async () => null,
    arraycore: new ArraycoreSide({
      fetchParts: (index, tell) =>
        fetchArraycore(index, { fetch: get, compile: (bytes) => WebAssembly.compile(bytes), tell }),
      offer: (wanted) => deviceOffer(wanted, capabilities, { sharesMemory: isShared }),
      spawnGpu,
      log: (line) => console.debug(line),
    }),
    fetchOptuna: (index, tell) => fetchOptuna(index, { fetch: get, tell }),
    fetchPacks: async (wanted, index, tell) =>
      await fetchPacks(wanted, index, await localPacks(), { fetch: get, tell }),
    log: (line) => console.debug(line),
    emit: (event) => {
      switch (event.kind) {
        case "running":
          teller.tell({ kind: "running" });
          break;
        case "report":
          points.push([event.step, event.value]);
          host.setTaken(points.length + rows.length);
          break;
        case "log":
          rows.push(event.row);
          host.setTaken(points.length + rows.length);
          break;
        case "call":
          host.answer(event.sequence, answerTo(event.asked, job));
          break;
        case "upload":
          // The upload is not needed: this run is never resumed, and the trial keeps the files of its first run.
          host.answer(event.sequence, answerText(true));
          break;
        case "output":
          teller.print(event.text);
          break;
        case "outcome":
          end(event);
          break;
        case "crashed":
          end({ outcome: crashOutcome(event.code, event.message) });
          break;
        case "cannot_run":
          teller.tell({ kind: "failed", code: event.code, message: event.message });
          break;
        default:
          break;
      }
    },
  });
  host.run(job.again && graphics !== undefined ? onWebgpu(lease) : lease);
}

/** Requires WebGPU for a trial that ran on WebGPU, even if only a software adapter exists. */
function onWebgpu(lease: Lease): Lease {
  return { ...lease, runtime: { ...lease.runtime, backend: "webgpu" } };
}

function leaseOf(told: unknown): Lease {
  const message = parseServerMessage(JSON.stringify(told));
  if (message.type !== "lease") throw new Error("The job holds no lease.");
  return message.lease;
}

/** Returns the index, with the URLs of the runtime on this page's server. */
async function localIndex(): Promise<RuntimeIndex> {
  const { runtime, pieces } = await api.runtimeIndex("runtime/index.json");
  return { runtime, pieces: rebased(pieces) };
}

/** Returns the packs, with their URLs on this page's server. */
async function localPacks(): Promise<PackIndex> {
  const { pyodide, packs } = await api.packIndex("runtime/packs.json");
  return { pyodide, packs: rebased(packs) };
}

function rebased<Piece extends RuntimePiece>(
  pieces: Readonly<Record<string, Piece>>,
): Record<string, Piece> {
  const folder = new URL(".", location.href).pathname;
  return Object.fromEntries(
    Object.entries(pieces).map(([name, piece]) => [
      name,
      { ...piece, base: folder + piece.base.slice(1) },
    ]),
  );
}

const get = (url: string) => fetch(url);
const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

async function bytesOf(url: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the local server answered ${response.status}.`);
  return new Uint8Array(await response.arrayBuffer());
}
