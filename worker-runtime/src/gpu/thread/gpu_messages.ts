// The messages between a gpu thread and its owner. Everything else goes through the ring. Any thread.

import type { DeviceLimits } from "../ring/executor.ts";

/** To the gpu thread: `open` once for each ring, and `wake` if the control block says that the thread waits. */
export type ToGpuThread =
  | {
      readonly kind: "open";
      readonly memory: WebAssembly.Memory;
      readonly controlAddress: number;
      readonly byMessage?: boolean;
      readonly limits?: Partial<DeviceLimits>;
      readonly withoutF16?: boolean;
      /** The share of time in which the device may work for the ring, above 0 and at most 1 (the default). */
      readonly share?: number;
    }
  | { readonly kind: "wake" }
  /** Changes the share. */
  | { readonly kind: "share"; readonly share: number };

/** The message that the gpu thread sends at its end. The control block reports everything else. */
export type FromGpuThread =
  | { readonly kind: "closed" }
  | { readonly kind: "failed"; readonly message: string };
