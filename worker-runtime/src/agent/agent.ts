// Connects the state machine to the socket, timers, storage, the python thread and the page. Runs on the agent thread.

import { FetchMeter } from "../base/fetch_meter.ts";
import { isFileKept } from "../base/http_cache.ts";
import { AGENT_NAME } from "../base/version.ts";
import {
  allowsMore,
  type DataLimits,
  type TooMuchData,
  tooMuchData,
} from "../governor/data_limits.ts";
import type { FromAgent, ToAgent } from "../page_contract/messages.ts";
import { type ProbeScope, sharesMemory } from "../page_contract/probe.ts";
import type { Contribution, ProjectView } from "../page_contract/volunteer_state.ts";
import {
  type Lease,
  ProtocolError,
  parseServerMessage,
  type ServerMessage,
  serialize,
} from "../protocol/index.ts";
import { watchClock } from "./clock_watch.ts";
import { capabilitiesOf, heapLimitOf } from "./device/capabilities.ts";
import { deviceOffer, lentGpu } from "./device/device_offer.ts";
import { probeGraphics } from "./device/gpu_probe.ts";
import * as api from "./files/api.ts";
import { fetchArraycore } from "./files/arraycore_parts.ts";
import { authorizationOf } from "./files/authorization.ts";
import { BlobCache, openByteCache, storageQuota } from "./files/blob_cache.ts";
import { CheckpointStore } from "./files/checkpoint_store.ts";
import { fetchOptuna } from "./files/optuna_parts.ts";
import { fetchPacks, missingBytes } from "./files/pack_parts.ts";
import { Store } from "./files/store.ts";
import { Transfers } from "./files/transfers.ts";
import type { AgentAction, AgentEvent } from "./machine/events.ts";
import { readFinished } from "./machine/finished.ts";
import { Machine } from "./machine/machine.ts";
import type { UploadResult } from "./machine/saving.ts";
import { viewOf } from "./machine/view.ts";
import { ArraycoreSide } from "./python_host/arraycore_side.ts";
import { PythonHost } from "./python_host/python_host.ts";
import { spawnGpu } from "./python_host/spawn_gpu.ts";
import { spawnPython } from "./python_host/spawn_python.ts";

/** The shortest time between two messages to the page about changes. */
const TELL_MS = 100;
/** The time for which the ending agent thread waits for the socket to close. */
const FAREWELL_MS = 500;
/** The time between two looks at the measurements of the processor's speed. */
const PACE_MS = 1_000;

type StartOptions = Omit<Extract<ToAgent, { kind: "start" }>, "kind">;

export class Agent {
  readonly #code: string;
  readonly #post: (message: FromAgent) => void;
  readonly #machine: Machine;
  readonly #host: PythonHost;
  readonly #arraycore: ArraycoreSide;
  readonly #isShared = sharesMemory(globalThis as ProbeScope);
  readonly #isCareful: boolean;
  #capabilities = capabilitiesOf(navigator);
  readonly #transfers: Transfers;
  #uploading: AbortController | null = null;
  #store: Store | null = null;
  #checkpoints: CheckpointStore | null = null;
  #blobs: Promise<BlobCache> | null = null;
  #socket: WebSocket | null = null;
  #alarm: ReturnType<typeof setTimeout> | undefined;
  #tellTimer: ReturnType<typeof setTimeout> | undefined;
  #contribution: Contribution = { trials: 0, seconds: 0 };
  #project: ProjectView | null = null;
  #isVisible: boolean;
  #hasStarted = false;
  /** The attempt whose result is stored. */
  #keptResult: number | undefined;
  #clockWatch: (() => void) | null = null;
  #dataLimits: DataLimits;
  readonly #meter = new FetchMeter(
    (bytes) => this.#post({ kind: "fetched", bytes }),
    (url, init) => fetch(url, init),
    self.location.origin,
  );
  #paceTimer: ReturnType<typeof setInterval> | undefined;
  /** The number of the last measurement of the processor's speed that the page has. */
  #toldReference = 0;

  constructor(options: StartOptions, post: (message: FromAgent) => void) {
    const { code, visible, careful, gpuShare, processorShare, dataLimits } = options;
    this.#dataLimits = dataLimits;
    this.#isCareful = careful;
    this.#code = code;
    this.#isVisible = visible;
    this.#post = post;
    this.#transfers = new Transfers({
      fetch: (url, init) => fetch(url, init),
      authorization: () => this.#authorization,
      random: Math.random,
      now: () => performance.now(),
      pause,
    });
    this.#arraycore = new ArraycoreSide({
      fetchParts: (index, tell) =>
        fetchArraycore(index, {
          fetch: (url) => fetch(url),
          compile: (bytes) => WebAssembly.compile(bytes),
          tell,
        }),
      offer: (wanted) =>
        deviceOffer(wanted, this.#capabilities, { sharesMemory: this.#isShared }, careful),
      spawnGpu,
      log: (line) => console.debug(line),
    });
    this.#arraycore.setShare(gpuShare);
    this.#host = new PythonHost({
      spawn: spawnPython,
      sharesMemory: this.#isShared,
      arraycore: this.#arraycore,
      fetchOptuna: (index, tell) => fetchOptuna(index, { fetch: (url) => fetch(url), tell }),
      fetchPacks: async (wanted, index, tell) =>
        await fetchPacks(wanted, index, await api.packIndex(), {
          fetch: (url) => fetch(url),
          tell,
        }),
      heapBytes: heapLimitOf(this.#capabilities, careful),
      now: () => performance.now(),
      runtimeIndex: (id) => api.runtimeIndex(api.indexAddress(id)),
      fetchBlob: async (wanted, signal) => {
        const cache = await this.#blobCache();
        return cache.get(wanted, this.#authorization, signal);
      },
      admit: (lease) => this.#admit(lease),
      fetched: (bytes) => this.#post({ kind: "fetched", bytes }),
      fetchCheckpoint: (attempt, checkpoint, signal) =>
        this.#transfers.loadCheckpoint(attempt, checkpoint, signal),
      readKept: async ({ sha256 }) => (await this.#checkpoints?.read(sha256)) ?? null,
      emit: (event) => this.#handle(event),
      log: (line) => console.debug(line),
    });
    this.#host.setLent(processorShare);
    this.#machine = new Machine({
      agent: AGENT_NAME,
      capabilities: () => this.#capabilities,
      random: Math.random,
      readProgress: () => this.#host.progress,
      readParked: () => this.#host.isParked,
    });
  }

  start(): void {
    // Python is the largest download, so the download begins before the device's identity is read.
    if (this.#isVisible) this.#host.warm();
    this.#loadProject();
    this.#meter.observe();
    this.#paceTimer = setInterval(() => this.#tellPace(), PACE_MS);
    this.#begin().catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      this.#handle({ kind: "join_failed", code: "agent_failed", message, permanent: true });
    });
  }

  async #begin(): Promise<void> {
    this.#store = await Store.open(this.#code);
    this.#contribution = await this.#store.contribution();
    const device = await this.#store.device();
    const finished = device === null ? null : readFinished(await this.#store.finished());
    this.#keptResult = finished?.lease.attempt;
    this.#checkpoints = await CheckpointStore.open(this.#code);
    const kept = device === null ? null : await this.#checkpoints.find();
    // Python loads while the graphics device is examined. Without shared memory it is not examined, because no trial
    // can use it.
    const gpu = this.#isShared ? await probeGraphics(navigator.gpu, (ms) => pause(ms)) : undefined;
    const told = capabilitiesOf(navigator);
    this.#capabilities = capabilitiesOf(navigator, lentGpu(gpu, told, this.#isCareful));
    this.#hasStarted = true;
    this.#handle({ kind: "start", device, visible: this.#isVisible, finished, kept });
  }

  setVisible(visible: boolean): void {
    this.#isVisible = visible;
    if (this.#hasStarted) this.#handle({ kind: visible ? "visible" : "hidden" });
  }

  /** The page closes, or goes to another address. */
  leave(): void {
    this.#isVisible = false;
    if (this.#hasStarted) this.#handle({ kind: "left" });
  }

  /** Measures, while the page computes in the background, whether the browser lets this thread run on time. */
  setBackground(computes: boolean): void {
    this.#clockWatch?.();
    this.#clockWatch = computes
      ? watchClock(() => {
          this.setBackground(false);
          this.#post({ kind: "throttled" });
        })
      : null;
  }

  setProcessorShare(share: number): void {
    this.#host.setLent(share);
  }

  setDataLimits(limits: DataLimits): void {
    const isMore = allowsMore(this.#dataLimits, limits);
    this.#dataLimits = limits;
    if (isMore && this.#hasStarted) this.#handle({ kind: "data_allowed" });
  }

  /** Returns why the files of this lease may not be fetched; null if they may. */
  async #admit(lease: Lease): Promise<TooMuchData | null> {
    const { study, dayLeft } = this.#dataLimits;
    if (study === null && dayLeft === null) return null;
    const cache = await this.#blobCache();
    const files = await cache.missing([lease.bundle, ...lease.data]);
    return tooMuchData(files + (await this.#missingPacks(lease)), this.#dataLimits);
  }

  /** Returns the bytes of the lease's packs that this browser has not kept. */
  async #missingPacks({ packs }: Lease): Promise<number> {
    if (packs === undefined) return 0;
    // Browsers accept brotli from secure origins only.
    const form = self.isSecureContext ? "br" : "gz";
    return await missingBytes(packs, await api.packIndex(), { form, isKept: isFileKept });
  }

  setGpuShare(share: number): void {
    this.#arraycore.setShare(share);
  }

  stop(): void {
    this.#handle({ kind: "stop" });
  }

  #handle(event: AgentEvent): void {
    const actions = this.#machine.handle(event, performance.now());
    for (const action of actions) this.#perform(action);
    this.#keepResult();
    this.#setAlarm();
    this.#tellSoon();
  }

  /** Stores a result until the server has it, because the page may be closed or crash before that. */
  #keepResult(): void {
    const finished = this.#machine.undelivered;
    if (finished === undefined || finished?.lease.attempt === this.#keptResult) return;
    this.#keptResult = finished?.lease.attempt;
    this.#store?.keepFinished(finished);
  }

  #setAlarm(): void {
    clearTimeout(this.#alarm);
    const deadline = this.#machine.nextDeadline();
    if (deadline === null) return;
    const delay = Math.max(0, deadline - performance.now());
    this.#alarm = setTimeout(() => this.#handle({ kind: "tick" }), delay);
  }

  #perform(action: AgentAction): void {
    switch (action.kind) {
      case "join":
        this.#join();
        break;
      case "forget_device":
        this.#store?.forgetDevice();
        this.#checkpoints?.forgetAll();
        break;
      case "open":
        this.#open();
        break;
      case "close":
        this.#close(action.code);
        break;
      case "send":
        if (this.#socket?.readyState === WebSocket.OPEN) {
          this.#socket.send(serialize(action.message));
        }
        break;
      case "warm":
        this.#host.warm();
        break;
      case "run":
        this.#host.run(action.lease, action.kept);
        break;
      case "abort":
        this.#host.abort(action.attempt);
        break;
      case "interrupt":
        this.#host.interrupt(action.attempt);
        break;
      case "leaving":
        this.#host.setLeaving(action.isLeaving);
        break;
      case "park":
        this.#host.setParked(action.wanted);
        break;
      case "terminate":
        this.#host.terminate();
        break;
      case "answer":
        this.#host.answer(action.sequence, action.text);
        break;
      case "idle":
        this.#host.idle();
        break;
      case "taken":
        this.#host.setTaken(action.points);
        break;
      case "upload":
        this.#upload(action);
        break;
      case "forget_upload":
        this.#uploading?.abort();
        break;
      case "keep":
        this.#checkpoints?.keep(action.kept, action.bytes);
        break;
      case "forget_kept":
        this.#checkpoints?.forget(action.sha256);
        break;
      case "contributed":
        this.#contributed(action.runMs);
        break;
      case "end":
        this.#end();
        break;
      default:
        action satisfies never;
    }
  }

  #join(): void {
    api.join(this.#code, this.#capabilities).then(
      async (device) => {
        await this.#store?.keepDevice(device);
        this.#handle({ kind: "joined", device });
      },
      (error: unknown) => {
        const { code, message, permanent } =
          error instanceof api.ApiError
            ? error
            : { code: "internal", message: String(error), permanent: true };
        this.#handle({ kind: "join_failed", code, message, permanent });
      },
    );
  }

  #open(): void {
    const socket = new WebSocket(api.socketAddress(self.location.origin));
    this.#socket = socket;
    // Events of an earlier socket are ignored.
    const isCurrent = () => this.#socket === socket;
    socket.addEventListener("open", () => {
      if (isCurrent()) this.#handle({ kind: "opened" });
    });
    socket.addEventListener("message", (event: MessageEvent<unknown>) => {
      const message = isCurrent() ? readFrame(event.data) : null;
      if (message === null) return;
      if (message.type === "welcome") this.#tellSession(message.session);
      this.#handle({ kind: "message", message });
    });
    socket.addEventListener("close", (event) => {
      if (!isCurrent()) return;
      this.#socket = null;
      this.#handle({ kind: "closed", code: event.code });
    });
  }

  #tellSession(session: number): void {
    const device = this.#machine.device;
    if (device === null) return;
    this.#post({ kind: "session", session, authorization: authorizationOf(device) });
  }

  #upload(upload: Extract<AgentAction, { kind: "upload" }>): void {
    const { id } = upload;
    this.#uploading?.abort();
    const uploading = new AbortController();
    this.#uploading = uploading;
    this.#tryUpload(upload, uploading.signal).then(
      (result) => this.#handle({ kind: "uploaded", id, result }),
      (error: unknown) => {
        const code = "upload_failed";
        const result = { kind: "refused", code, message: String(error) } as const;
        this.#handle({ kind: "uploaded", id, result });
      },
    );
  }

  async #tryUpload(
    upload: Extract<AgentAction, { kind: "upload" }>,
    signal: AbortSignal,
  ): Promise<UploadResult> {
    const bytes = upload.bytes ?? (await this.#checkpoints?.read(upload.sha256)) ?? null;
    // The browser has removed the kept checkpoint.
    if (bytes === null) return { kind: "not_stored", keeps: false };
    return await this.#transfers.upload({ ...upload, bytes }, signal);
  }

  #close(code: number): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(code);
  }

  #contributed(runMs: number): void {
    const { trials, seconds } = this.#contribution;
    this.#contribution = { trials: trials + 1, seconds: seconds + runMs / 1000 };
    this.#store?.keepContribution(this.#contribution);
  }

  #end(): void {
    clearInterval(this.#paceTimer);
    clearTimeout(this.#tellTimer);
    this.#tell();
    // The thread ends a little later, because the browser sends the socket's last messages in the background.
    setTimeout(() => this.#post({ kind: "ended" }), FAREWELL_MS);
  }

  /** The Authorization header for downloads and uploads of a lease. */
  get #authorization(): string {
    const device = this.#machine.device;
    if (device === null) throw new Error("A lease came before the device joined.");
    return authorizationOf(device);
  }

  #blobCache(): Promise<BlobCache> {
    this.#blobs ??= openByteCache().then((cache) => {
      if (this.#store === null) throw new Error("A lease came before the start.");
      return new BlobCache({
        index: this.#store,
        cache,
        fetch: this.#meter.fetch,
        random: Math.random,
        wallClock: Date.now,
        pause,
        quotaBytes: storageQuota,
      });
    });
    return this.#blobs;
  }

  #loadProject(): void {
    api.project(this.#code).then(
      (project) => {
        this.#project = project;
        this.#tellSoon();
      },
      () => {}, // The name is only displayed. Joining will report what is wrong with the code.
    );
  }

  #tellPace(): void {
    const { reference } = this.#host;
    if (reference === null || reference.number === this.#toldReference) return;
    this.#toldReference = reference.number;
    if (reference.us > 0) this.#post({ kind: "pace", pace: 1_000 / reference.us });
  }

  #tellSoon(): void {
    this.#tellTimer ??= setTimeout(() => this.#tell(), TELL_MS);
  }

  #tell(): void {
    this.#tellTimer = undefined;
    this.#post({
      kind: "changed",
      state: viewOf(this.#machine, performance.timeOrigin),
      contribution: this.#contribution,
      project: this.#project,
    });
  }
}

/** Returns the message of a frame; null if this version does not know its type (R2). */
function readFrame(data: unknown): ServerMessage | null {
  if (typeof data !== "string") return null;
  try {
    return parseServerMessage(data);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    console.warn(`A message of the server was left alone: ${error.code} ${error.field ?? ""}`);
    return null;
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
