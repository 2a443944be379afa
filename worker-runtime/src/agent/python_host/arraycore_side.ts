// Provides array-core to a python thread. It fetches the parts once, offers devices to a trial (device_offer.ts), and
// owns the gpu thread. The gpu thread starts when a trial first opens the device. It ends with the python thread, so
// that each study has its own device. Owned by python_host.ts on the agent thread.

import type { ToGpuThread } from "../../gpu/thread/gpu_messages.ts";
import {
  GpuThreadOwner,
  type GpuWorker,
  type GpuWorkerEvents,
} from "../../gpu/thread/gpu_owner.ts";
import type { Backend } from "../../protocol/index.ts";
import type { ArraycoreParts, DeviceOffer, RuntimeIndex } from "../../python/messages.ts";

type Tell = (loaded: number, total: number) => void;

export interface ArraycoreSideOptions {
  readonly fetchParts: (index: RuntimeIndex, tell: Tell) => Promise<ArraycoreParts>;
  readonly offer: (wanted: Backend) => DeviceOffer;
  readonly spawnGpu: (events: GpuWorkerEvents) => GpuWorker;
  readonly log: (line: string) => void;
}

export class ArraycoreSide {
  readonly #options: ArraycoreSideOptions;
  #parts: { readonly runtime: string; readonly fetched: Promise<ArraycoreParts> } | null = null;
  #owner: GpuThreadOwner | null = null;
  #share = 1;

  constructor(options: ArraycoreSideOptions) {
    this.#options = options;
  }

  offer(wanted: Backend): DeviceOffer {
    return this.#options.offer(wanted);
  }

  /** Fetches the parts of a runtime once. After a failure, the next call tries again. */
  parts(index: RuntimeIndex, tell: Tell): Promise<ArraycoreParts> {
    if (this.#parts?.runtime === index.runtime) return this.#parts.fetched;
    const parts = { runtime: index.runtime, fetched: this.#options.fetchParts(index, tell) };
    this.#parts = parts;
    parts.fetched.catch(() => {
      if (this.#parts === parts) this.#parts = null;
    });
    return parts.fetched;
  }

  /** Passes a message of the python thread on to the gpu thread. */
  receive(message: ToGpuThread): void {
    const { spawnGpu, log } = this.#options;
    if (message.kind === "open") this.#owner ??= new GpuThreadOwner(spawnGpu, log);
    this.#owner?.receive(message.kind === "open" ? { ...message, share: this.#share } : message);
  }

  /** Whether a trial of this python thread has opened the device. */
  get isOpened(): boolean {
    return this.#owner !== null;
  }

  /** Sets the share of the device's time that the volunteer lends. It also applies to the running trial. */
  setShare(share: number): void {
    this.#share = share;
    this.#owner?.receive({ kind: "share", share });
  }

  /** Ends a wait for the device, so that Python notices its interrupt. */
  interrupt(): void {
    this.#owner?.interrupt("once");
  }

  terminate(): void {
    void this.#owner?.terminate();
    this.#owner = null;
  }
}
