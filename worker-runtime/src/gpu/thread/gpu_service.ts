// The work of a gpu thread, in a browser's worker or in Node: it opens the ring's executor on request, and serves the ring
// until it is closed. The issuer says in the control block which back end it wants. Runs on the gpu thread.

import { Control, markGone } from "../ring/control.ts";
import { Drain } from "../ring/drain.ts";
import type { OpenExecutor } from "../ring/executor.ts";
import { Backend, Word } from "../ring/layout.ts";
import { openWebGpu } from "../webgpu/webgpu_open.ts";
import type { FromGpuThread, ToGpuThread } from "./gpu_messages.ts";

type Open = Extract<ToGpuThread, { kind: "open" }>;

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

  #opener(options: Open): OpenExecutor {
    const wanted = new Control(options.memory, options.controlAddress).load(Word.wanted);
    if (wanted !== Backend.webgl2)
      return (events) => openWebGpu({ ...options, gpu: this.#gpu, events });
    return async (events) => {
      // The code of WebGL2 is fetched only where it is wanted.
      const { openWebGl2 } = await import("../webgl2/webgl2_open.ts");
      return openWebGl2({ ...options, events });
    };
  }

  async #serve(options: Open): Promise<void> {
    const { memory, controlAddress } = options;
    try {
      this.#drain = new Drain({ ...options, open: this.#opener(options) });
      await this.#drain.run();
      this.#post({ kind: "closed" });
    } catch (error) {
      markGone(memory, controlAddress);
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#post({ kind: "failed", message: text });
    }
  }
}
