// Owns the python thread: starts it, fetches what an attempt needs, sends it the attempt, and ends it. It runs one attempt
// at a time. A Pyodide is reused only for the same bundle of the same study. Runs on the agent thread.

import { sha256Hex } from "../../base/hex.ts";
import { AGENT_NAME } from "../../base/version.ts";
import type { AgentEnd, Reference } from "../../channel/agent_end.ts";
import { Answerer } from "../../channel/answerer.ts";
import { createBlock } from "../../channel/block.ts";
import { PostedAnswerer } from "../../channel/posted_answerer.ts";
import type { TooMuchData } from "../../governor/data_limits.ts";
import type { Checkpoint, Lease } from "../../protocol/index.ts";
import { MAX_MESSAGE, MAX_TEXT } from "../../protocol/limits.ts";
import type {
  ArraycoreParts,
  CheckpointFile,
  DataFile,
  FromPython,
  RuntimeIndex,
  RuntimePiece,
  ToPython,
} from "../../python/messages.ts";
import type { BlobWanted } from "../files/blob_cache.ts";
import { needsOf } from "../files/bundle_needs.ts";
import type { PackArchive, WantedPack } from "../files/pack_parts.ts";
import { parseCall } from "../machine/asked_call.ts";
import type { AgentEvent } from "../machine/events.ts";
import type { KeptCheckpoint } from "../machine/kept_checkpoint.ts";
import { backendOf, parseOutcome } from "../machine/outcome.ts";
import { parseRow } from "../machine/series.ts";
import { parseUploadHead } from "../machine/upload_head.ts";
import type { ArraycoreSide } from "./arraycore_side.ts";
import { Allowance, parseFromPython } from "./from_python.ts";

/** If loading shows no progress for this time, it fails. */
const LOAD_SILENCE_MS = 90_000;
/** The error code for a message that only trial code can have sent in the thread's name. */
export const VIOLATION = "channel_violation";
const CORE_PIECES = ["pyodide", "numpy", "six", "worker"];
const CHAINER_PREFIX = "chainer-";

/** A dedicated worker, or the fake of a test. */
export interface ThreadPort {
  post(message: ToPython, transfer: Transferable[]): void;
  terminate(): void;
}

export interface PythonHostOptions {
  readonly spawn: (
    onMessage: (message: unknown) => void,
    onError: (message: string) => void,
  ) => ThreadPort;
  /** Whether threads can share memory. If not, Python waits by JSPI. */
  readonly sharesMemory: boolean;
  /** The limit of Python's heap in bytes. */
  readonly heapBytes: number;
  readonly now: () => number;
  /** Fetches the index of the runtime with this id; without an id, that of the newest runtime. */
  readonly runtimeIndex: (id: string | undefined) => Promise<RuntimeIndex>;
  readonly fetchBlob: (wanted: BlobWanted, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>;
  /** Fetches the checkpoint with which the attempt begins; null if it cannot be fetched. */
  readonly fetchCheckpoint: (
    attempt: number,
    checkpoint: Checkpoint,
    signal: AbortSignal,
  ) => Promise<Uint8Array<ArrayBuffer> | null>;
  /** Reads the checkpoint that this device has kept; null if it is lost. */
  readonly readKept?: (kept: KeptCheckpoint) => Promise<Uint8Array<ArrayBuffer> | null>;
  /** array-core for studies that ask for a device. If the server has none (null), their trials get plain NumPy. */
  readonly arraycore: ArraycoreSide | null;
  /** Fetches Optuna's archives, for trials of an Optuna study and for trials whose code imports Optuna. */
  readonly fetchOptuna: (
    index: RuntimeIndex,
    tell: (loaded: number, total: number) => void,
  ) => Promise<Uint8Array<ArrayBuffer>[]>;
  /**
   * Fetches packs, with all that they need, for trials whose code imports them. The named ones come first,
   * because not all may fit into what a result says.
   */
  readonly fetchPacks: (
    wanted: readonly WantedPack[],
    index: RuntimeIndex,
    tell: (loaded: number, total: number) => void,
  ) => Promise<PackArchive[]>;
  /** Returns why the lease's files may not be fetched; null if they may. */
  readonly admit?: (lease: Lease) => Promise<TooMuchData | null>;
  /** Called with the bytes that a python thread has fetched. */
  readonly fetched?: (bytes: number) => void;
  readonly emit: (event: AgentEvent) => void;
  readonly log: (line: string) => void;
}

interface Thread {
  readonly port: ThreadPort;
  readonly answerer: AgentEnd;
  readonly loaded: Promise<void>;
  readonly settle: { resolve(): void; reject(error: Error): void };
  /** The version of Chainer; null until the index is fetched. */
  chainer: string | null;
  /** The id of the runtime for which the thread was started; undefined for the newest runtime. */
  readonly wanted: string | undefined;
  /** The id of the runtime; null until the index is fetched. */
  runtime: string | null;
  /** The versions of the packages that the thread has loaded (R52). */
  software: string;
  /** The study, the bundle and the versions for which this Pyodide has run code; null if it has run none. */
  usedFor: string | null;
  /** Whether array-core was sent to the thread. */
  hasArraycore: boolean;
  /** Whether Optuna was sent to the thread. */
  hasOptuna: boolean;
  /** The versions of the packs that were sent to the thread, by their names. */
  readonly packs: Map<string, string>;
  /** The attempt that was sent to the thread; null if none was. */
  attempt: number | null;
  /** Whether the thread was told to stop. */
  isInterrupted: boolean;
  allowance: Allowance;
  isLoaded: boolean;
  silence: ReturnType<typeof setTimeout> | undefined;
}

/** The checkpoint with which an attempt begins, and whether it is the one that this device has kept. */
interface Beginning {
  readonly file: CheckpointFile;
  readonly isKept: boolean;
}

interface Job {
  readonly lease: Lease;
  readonly kept: KeptCheckpoint | null;
  readonly controller: AbortController;
}

/** Thrown if a python thread could not be started. */
export class PythonError extends Error {
  override readonly name = "PythonError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Thrown if the volunteer's limits do not let the lease's files be fetched. */
class TooMuchDataError extends Error {
  override readonly name = "TooMuchDataError";
  readonly why: TooMuchData;

  constructor(why: TooMuchData) {
    super(`The trial's files have ${why.bytes} bytes.`);
    this.why = why;
  }
}

export class PythonHost {
  readonly #options: PythonHostOptions;
  /** The indexes by the id of the runtime. The index of the newest runtime is under the empty text. */
  readonly #indexes = new Map<string, Promise<RuntimeIndex>>();
  #thread: Thread | null = null;
  #lent = 1;
  #isParking = false;
  #job: Job | null = null;
  #lastChainer: string | null = null;
  #lastRuntime: string | undefined;
  readonly #bytes = {
    python: [0, 0],
    arraycore: [0, 0],
    optuna: [0, 0],
    packs: [0, 0],
    blobs: [0, 0],
  } as Record<
    "python" | "arraycore" | "optuna" | "packs" | "blobs",
    [loaded: number, total: number]
  >;

  constructor(options: PythonHostOptions) {
    this.#options = options;
  }

  get progress(): number {
    return this.#thread?.answerer.progress ?? 0;
  }

  /** The newest measurement of the processor's speed; null if there is none. */
  get reference(): Reference | null {
    return this.#thread?.answerer.reference ?? null;
  }

  /** Starts a python thread if there is none, with the Chainer version of the last trial. */
  warm(): void {
    if (this.#thread === null) this.#start(this.#lastChainer, this.#lastRuntime);
  }

  /** Runs an attempt. It begins with `kept`, or, if that is lost or null, with the lease's checkpoint. */
  run(lease: Lease, kept: KeptCheckpoint | null = null): void {
    const job = { lease, kept, controller: new AbortController() };
    this.#job = job;
    this.#lastChainer = lease.runtime.chainer;
    this.#lastRuntime = lease.runtime_index;
    this.#runJob(job).catch((error: unknown) => {
      if (this.#job !== job) return;
      this.#job = null;
      if (error instanceof TooMuchDataError) {
        this.#options.emit({ kind: "too_much_data", attempt: lease.attempt, why: error.why });
        return;
      }
      const { code, message } = asPythonError(error);
      this.#options.emit({ kind: "cannot_run", attempt: lease.attempt, code, message });
    });
  }

  /** Forgets an attempt that was not sent to the thread yet. */
  abort(attempt: number): void {
    if (this.#job?.lease.attempt !== attempt) return;
    this.#job.controller.abort();
    this.#job = null;
  }

  interrupt(attempt: number): void {
    if (this.#thread?.attempt !== attempt) return;
    this.#thread.isInterrupted = true;
    this.#thread.answerer.interrupt();
    this.#options.arraycore?.interrupt();
  }

  terminate(): void {
    const thread = this.#thread;
    this.#thread = null;
    if (thread === null) return;
    clearTimeout(thread.silence);
    thread.port.terminate();
    this.#options.arraycore?.terminate();
    thread.settle.reject(new PythonError("terminated", "The python thread was ended."));
  }

  /** Ends the thread if no work is expected, because a trial may have left something running. */
  idle(): void {
    if (this.#thread === null || this.#thread.usedFor === null || this.#job !== null) return;
    if (this.#thread.attempt !== null) return;
    this.terminate();
    this.warm();
  }

  answer(sequence: number, text: string): void {
    this.#thread?.allowance.setAnswered(sequence);
    this.#thread?.answerer.answer(sequence, text);
  }

  setTaken(points: number): void {
    this.#thread?.allowance.setTaken(points);
    this.#thread?.answerer.setTaken(points);
  }

  async #runJob(job: Job): Promise<void> {
    const { lease, controller } = job;
    const { chainer } = lease.runtime;
    // The server serves the study's runtime as long as the study runs, even if a newer runtime is installed (R58).
    const runtime = lease.runtime_index;
    const usedFor = `${lease.study} ${lease.bundle.sha256} ${chainer} ${runtime}`;
    const old = this.#thread;
    const isForeign = old !== null && old.usedFor !== null && old.usedFor !== usedFor;
    if (isForeign || (old !== null && !hasVersions(old, chainer, runtime))) this.terminate();
    if (this.#thread === null) this.#start(chainer, runtime);
    const why = (await this.#options.admit?.(lease)) ?? null;
    if (this.#job !== job) return;
    if (why !== null) throw new TooMuchDataError(why);
    const blobs = this.#gather(job, controller.signal);
    const wanted = this.#options.arraycore === null ? undefined : lease.runtime.backend;
    const parts = wanted === undefined ? Promise.resolve(null) : this.#fetchArraycore(runtime);
    const isAsked = lease.asked === true;
    const optuna = isAsked
      ? this.#fetchOptuna(runtime)
      : blobs.then(({ bundle }) => (needsOf(bundle).optuna ? this.#fetchOptuna(runtime) : []));
    // A study of an earlier version of the server does not list its packs, but its bundle names them.
    const packs =
      lease.packs === undefined
        ? blobs.then(({ bundle }) => this.#fetchPacks(namedBy(bundle), runtime))
        : this.#fetchPacks(lease.packs, runtime);
    // The errors of these promises are handled later, when the promises are awaited.
    for (const fetching of [blobs, parts, optuna, packs]) fetching.catch(() => {});
    let thread = this.#current();
    await thread.loaded;
    if (this.#job !== job) return;
    if (!hasVersions(thread, chainer, runtime)) {
      // The thread was started before the lease was known. It has other versions of Chainer or the runtime than the
      // lease needs.
      this.terminate();
      this.#start(chainer, runtime);
      thread = this.#current();
      await thread.loaded;
    }
    const { bundle, data, beginning } = await blobs;
    const checkpoint = beginning?.file ?? null;
    const fetched = await parts;
    const archives = await optuna;
    const newPacks = await packs;
    const index = await this.#readIndex(runtime);
    const hasOptuna = isAsked || needsOf(bundle).optuna;
    if (this.#job !== job || this.#thread !== thread) return;
    this.#job = null;
    thread.usedFor = usedFor;
    thread.attempt = lease.attempt;
    thread.isInterrupted = false;
    thread.allowance = new Allowance();
    thread.answerer.reset();
    thread.answerer.setParked(this.#isParking);
    const spec = {
      attempt: lease.attempt,
      study: lease.study,
      trial: lease.trial,
      entry: lease.entry,
      params: lease.params,
      seed: lease.seed,
      chainer,
      device: wanted === undefined ? null : (this.#options.arraycore?.offer(wanted) ?? null),
      asked: isAsked
        ? {
            directions: lease.directions ?? 1,
            suggested: lease.suggested ?? null,
            attrs: lease.attrs ?? null,
          }
        : null,
    };
    const arraycore = thread.hasArraycore ? null : fetched;
    thread.hasArraycore ||= arraycore !== null;
    const packages = thread.hasOptuna ? [] : [...archives];
    thread.hasOptuna ||= hasOptuna;
    for (const { name, version, bytes } of newPacks) {
      if (thread.packs.has(name)) continue;
      thread.packs.set(name, version);
      packages.push(bytes);
    }
    thread.software = softwareOf(index, chainer, hasOptuna, thread.packs);
    const transfer = [bundle, ...data.map((file) => file.bytes), ...packages].map((b) => b.buffer);
    if (checkpoint !== null) transfer.push(checkpoint.bytes.buffer);
    const run = { spec, bundle, data, checkpoint, arraycore, packages };
    thread.port.post({ kind: "run", ...run }, transfer);
    const fromKept = beginning?.isKept === true ? { fromKept: true } : {};
    this.#options.emit({ kind: "running", attempt: lease.attempt, ...fromKept });
  }

  async #gather(
    { lease, kept }: Job,
    signal: AbortSignal,
  ): Promise<{
    bundle: Uint8Array<ArrayBuffer>;
    data: DataFile[];
    beginning: Beginning | null;
  }> {
    const saved = this.#loadBeginning(lease, kept, signal);
    const total = lease.data.reduce((sum, item) => sum + item.bytes, lease.bundle.bytes);
    this.#bytes.blobs = [0, total];
    const get = async (wanted: BlobWanted) => {
      const bytes = await this.#options.fetchBlob(wanted, signal);
      this.#bytes.blobs[0] += wanted.bytes;
      this.#tellLoading();
      return bytes;
    };
    const [bundle, ...contents] = await Promise.all([lease.bundle, ...lease.data].map(get));
    if (bundle === undefined) throw new PythonError("blob_unavailable", "The trial has no code.");
    const data = lease.data.map(({ name, kind }, i) => ({
      name,
      kind,
      bytes: contents[i] ?? new Uint8Array(),
    }));
    return { bundle, data, beginning: await saved };
  }

  /** Loads the checkpoint. If there is none, or it cannot be fetched, the trial begins without it and is not refused. */
  async #loadBeginning(
    lease: Lease,
    kept: KeptCheckpoint | null,
    signal: AbortSignal,
  ): Promise<Beginning | null> {
    const keptBytes = kept && (await this.#options.readKept?.(kept).catch(() => null));
    if (kept && keptBytes) {
      const { format, step } = kept;
      return { file: { format, step, bytes: keptBytes }, isKept: true };
    }
    const { checkpoint } = lease;
    if (checkpoint === undefined) return null;
    const fetched = this.#options.fetchCheckpoint(lease.attempt, checkpoint, signal);
    const bytes = await fetched.catch(() => null);
    if (bytes === null) {
      this.#options.log(`the checkpoint of attempt ${checkpoint.attempt} cannot be had`);
      return null;
    }
    const file = { format: checkpoint.format, step: checkpoint.step ?? null, bytes };
    return { file, isKept: false };
  }

  async #fetchArraycore(runtime: string | undefined): Promise<ArraycoreParts | null> {
    const { arraycore } = this.#options;
    if (arraycore === null) return null;
    return await arraycore.parts(await this.#readIndex(runtime), (loaded, total) => {
      this.#bytes.arraycore = [loaded, total];
      this.#tellLoading();
    });
  }

  async #fetchOptuna(runtime: string | undefined): Promise<Uint8Array<ArrayBuffer>[]> {
    // The thread already has Optuna and keeps it, because a thread serves one study.
    if (this.#thread?.hasOptuna === true) return [];
    return await this.#options.fetchOptuna(await this.#readIndex(runtime), (loaded, total) => {
      this.#bytes.optuna = [loaded, total];
      this.#tellLoading();
    });
  }

  async #fetchPacks(
    wanted: readonly WantedPack[],
    runtime: string | undefined,
  ): Promise<PackArchive[]> {
    // The thread keeps its packs, because it serves one study.
    if (wanted.every(({ name }) => this.#thread?.packs.has(name))) return [];
    return await this.#options.fetchPacks(
      wanted,
      await this.#readIndex(runtime),
      (loaded, total) => {
        this.#bytes.packs = [loaded, total];
        this.#tellLoading();
      },
    );
  }

  /** Sets the part of the processor's time that trials get, above 0 and at most 1. It also applies to the running one. */
  setLent(share: number): void {
    this.#lent = share;
    this.#thread?.answerer.setLent(share);
  }

  /** Whether Python is parked: it computes nothing and keeps its memory. */
  get isParked(): boolean {
    return this.#thread?.answerer.isParked ?? false;
  }

  /** Parks Python in the middle of its code, or lets it go on. It also applies to attempts that begin later. */
  setParked(wanted: boolean): void {
    this.#isParking = wanted;
    this.#thread?.answerer.setParked(wanted);
  }

  /** Says whether the device may soon be gone, so that the running trial saves what it can. */
  setLeaving(isLeaving: boolean): void {
    this.#thread?.answerer.setLeaving(isLeaving);
  }

  #current(): Thread {
    if (this.#thread === null) throw new PythonError("terminated", "The python thread was ended.");
    return this.#thread;
  }

  #start(chainer: string | null, runtime: string | undefined): void {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // A thread that was started in advance may fail before anybody waits for it. This prevents an unhandled rejection.
    promise.catch(() => {});
    const port = this.#options.spawn(
      (message) => this.#onMessage(thread, message),
      (message) => this.#onError(thread, message),
    );
    const thread: Thread = {
      port,
      answerer: this.#options.sharesMemory
        ? new Answerer(createBlock())
        : new PostedAnswerer((message) => port.post(message, [])),
      loaded: promise,
      settle: { resolve, reject },
      chainer,
      wanted: runtime,
      runtime: null,
      software: "",
      usedFor: null,
      hasArraycore: false,
      hasOptuna: false,
      packs: new Map(),
      attempt: null,
      isInterrupted: false,
      allowance: new Allowance(),
      isLoaded: false,
      silence: undefined,
    };
    thread.answerer.setLent(this.#lent);
    this.#thread = thread;
    this.#bytes.python = [0, 0];
    this.#watch(thread);
    this.#readIndex(runtime)
      .then((index) => {
        thread.runtime = index.runtime;
        thread.chainer ??= defaultChainer(index);
        const pieces = piecesOf(index, thread.chainer);
        const { heapBytes } = this.#options;
        const { memory } = thread.answerer;
        thread.port.post({ kind: "load", memory, pieces, heapBytes }, []);
      })
      .catch((error: unknown) => {
        const { code, message } = asPythonError(error);
        this.#onCrash(thread, code, message);
      });
  }

  #readIndex(runtime: string | undefined): Promise<RuntimeIndex> {
    const key = runtime ?? "";
    const index = this.#indexes.get(key) ?? this.#options.runtimeIndex(runtime);
    this.#indexes.set(key, index);
    index.catch(() => this.#indexes.delete(key));
    return index;
  }

  #watch(thread: Thread): void {
    clearTimeout(thread.silence);
    const seconds = LOAD_SILENCE_MS / 1000;
    thread.silence = setTimeout(() => {
      this.#onCrash(thread, "load_timeout", `Python made no progress in loading for ${seconds} s.`);
    }, LOAD_SILENCE_MS);
  }

  #onMessage(thread: Thread, data: unknown): void {
    if (this.#thread !== thread) return;
    const message = parseFromPython(data);
    if (message === null || !thread.allowance.admits(message, this.#options.now())) {
      const why = message === null ? "a message that is none of its kinds" : "more than it may";
      this.#onCrash(thread, VIOLATION, `The python thread sent ${why}.`);
      return;
    }
    this.#hear(thread, message);
  }

  #hear(thread: Thread, message: FromPython): void {
    // A message that names another attempt is late or forged, so it is ignored.
    if ("attempt" in message && message.attempt !== thread.attempt) return;
    const { emit } = this.#options;
    switch (message.kind) {
      case "loading":
        if (thread.isLoaded) break;
        this.#watch(thread);
        this.#bytes.python = [message.loaded, message.total];
        this.#tellLoading();
        break;
      case "loaded":
        clearTimeout(thread.silence);
        if (!thread.isLoaded) this.#options.fetched?.(message.fetchedBytes);
        thread.isLoaded = true;
        thread.settle.resolve();
        this.#options.log(`python thread loaded ${JSON.stringify(message.timings)}`);
        break;
      case "report":
        if (isPoint(message.step, message.value)) emit(message);
        break;
      case "log": {
        const row = parseRow(message.row);
        if (row !== null) emit({ kind: "log", attempt: message.attempt, row });
        break;
      }
      case "progress":
        if (thread.answerer instanceof PostedAnswerer) thread.answerer.setProgress(message.count);
        break;
      case "call":
        emit({
          kind: "call",
          attempt: message.attempt,
          sequence: message.sequence,
          asked: parseCall(message.method, message.payload),
        });
        break;
      case "upload":
        this.#hearUpload(thread, message);
        break;
      case "output":
        emit(message);
        break;
      case "outcome":
        thread.attempt = null;
        if (message.isLast === true || this.#mayShareItsRing(thread)) this.terminate();
        emit({
          kind: "outcome",
          attempt: message.attempt,
          runMs: message.runMs,
          outcome: parseOutcome(message.outcome),
          backend: backendOf(message.outcome),
          software: thread.software,
        });
        break;
      case "gpu":
        // A thread without an attempt may not use a device.
        if (thread.attempt !== null) this.#options.arraycore?.receive(message.message);
        break;
      case "crashed":
        this.#onCrash(thread, message.code, message.message);
        break;
      default:
        message satisfies never;
    }
  }

  // Python waits for the answer, so no other message of its attempt comes before the hash is known.
  #hearUpload(thread: Thread, message: Extract<FromPython, { kind: "upload" }>): void {
    void sha256Hex(message.bytes).then((sha256) => {
      if (this.#thread !== thread || thread.attempt !== message.attempt) return;
      this.#options.emit({ ...message, head: parseUploadHead(message.head), sha256 });
    });
  }

  // Returns whether the gpu thread may still use the memory of this trial's ring (its queue of GPU commands) when the
  // next trial allocates a ring. After an interrupt, array-core frees the memory without waiting for the gpu thread. If
  // this is possible, both threads are replaced. No attempt fails because of this.
  #mayShareItsRing(thread: Thread): boolean {
    return thread.isInterrupted && this.#options.arraycore?.isOpened === true;
  }

  // Handles a thread whose script could not be fetched, or that threw an uncaught error, such as from a trial's timer.
  #onError(thread: Thread, message: string): void {
    const code = thread.isLoaded ? "runtime_crashed" : "assets_unavailable";
    this.#onCrash(thread, code, message.slice(0, MAX_MESSAGE));
  }

  #onCrash(thread: Thread, code: string, message: string): void {
    if (this.#thread !== thread) return;
    const { attempt } = thread;
    // This line comes before terminate(), so that callers that wait for the thread get this error.
    thread.settle.reject(new PythonError(code, message));
    this.terminate();
    if (attempt !== null) this.#options.emit({ kind: "crashed", attempt, code, message });
  }

  #tellLoading(): void {
    const parts = Object.values(this.#bytes);
    const sum = (index: 0 | 1) => parts.reduce((total, part) => total + part[index], 0);
    this.#options.emit({ kind: "loading", loaded: sum(0), total: sum(1) });
  }
}

/** Returns whether a thread has these versions, or may have them but does not know its own yet. */
function hasVersions(thread: Thread, chainer: string, runtime: string | undefined): boolean {
  // A thread that was started for the newest runtime may turn out to have the wanted one.
  const mayBe = runtime !== undefined && (thread.runtime ?? runtime) === runtime;
  const isRuntime = thread.wanted === runtime || mayBe;
  return isRuntime && (thread.chainer === null || thread.chainer === chainer);
}

function namedBy(bundle: Uint8Array): WantedPack[] {
  return needsOf(bundle).packs.map((name) => ({ name }));
}

function defaultChainer(index: RuntimeIndex): string {
  const name = Object.keys(index.pieces).find((piece) => piece.startsWith(CHAINER_PREFIX));
  return name?.slice(CHAINER_PREFIX.length) ?? "none";
}

function piecesOf(index: RuntimeIndex, chainer: string): RuntimePiece[] {
  return [...CORE_PIECES, `${CHAINER_PREFIX}${chainer}`].map((name) => {
    const piece = Object.hasOwn(index.pieces, name) ? index.pieces[name] : undefined;
    if (piece !== undefined) return piece;
    throw new PythonError("unknown_runtime", `This server's runtime has no ${name}.`);
  });
}

/**
 * Returns the versions that compute an attempt. They are read from the index, which trial code cannot change. The packs
 * that would make the text too long for a result are left out; the version of Pyodide determines theirs.
 */
function softwareOf(
  index: RuntimeIndex,
  chainer: string,
  hasOptuna: boolean,
  packs: ReadonlyMap<string, string>,
): string {
  const names = ["pyodide", "numpy", ...(hasOptuna ? ["optuna"] : [])];
  const versions = names.map((name) => `${name}/${index.pieces[name]?.version ?? "unknown"}`);
  let text = [AGENT_NAME, `runtime/${index.runtime}`, ...versions, `chainer/${chainer}`].join(" ");
  for (const [name, version] of packs) {
    const longer = `${text} ${name}/${version}`;
    if (longer.length > MAX_TEXT) break;
    text = longer;
  }
  return text;
}

function isPoint(step: number, value: number): boolean {
  return Number.isSafeInteger(step) && step >= 0 && Number.isFinite(value);
}

function asPythonError(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return { code: error.code, message: error.message };
  }
  return { code: "cannot_run", message: error instanceof Error ? error.message : String(error) };
}
