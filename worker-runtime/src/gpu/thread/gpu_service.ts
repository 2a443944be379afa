// The work of a gpu thread, in a browser's worker or in Node: it opens the ring's executor on request, and serves the ring
// until it is closed. Runs on the gpu thread.

import { markGone } from "../ring/control.ts";
import { Drain } from "../ring/drain.ts";
import { openWebGpu } from "../webgpu/webgpu_open.ts";
import type { FromGpuThread, ToGpuThread } from "./gpu_messages.ts";

export class GpuService {
  readonly #gpu: GPU | undefined;
  readonly #post: (message: FromGpuThread) => void;
  #drain: Drain | undefined;

  constructor(gpu: GPU | undefined, post: (message: FromGpuThread) => void) {
    this.#gpu = gpu;
    this.#post = post;
  }

  receive(message: ToGpuThread): void {
    switch (message.kind) {
      case "wake":
        this.#drain?.wake();
        return;
      case "share":
        this.#drain?.setShare(message.share);
        return;
      case "open":
        void this.#serve(message);
        return;
      default:
        message satisfies never;
    }
  }

  async #serve(options: Extract<ToGpuThread, { kind: "open" }>): Promise<void> {
    const { memory, controlAddress } = options;
    try {
      this.#drain = new Drain({
        ...options,
        open: (events) => openWebGpu({ ...options, gpu: this.#gpu, events }),
      });
      await this.#drain.run();
      this.#post({ kind: "closed" });
    } catch (error) {
      markGone(memory, controlAddress);
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#post({ kind: "failed", message: text });
    }
  }
}
