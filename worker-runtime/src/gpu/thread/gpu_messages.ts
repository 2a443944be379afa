// What passes between a gpu thread and its owner; everything else goes through the ring. Any thread.

import type { DeviceLimits } from "../ring/executor.ts";

/** To the gpu thread. One `open`; a `wake` whenever the control block says that it sleeps for a message. */
export type ToGpuThread =
  | {
      readonly kind: "open";
      readonly memory: WebAssembly.Memory;
      readonly controlAddress: number;
      readonly byMessage?: boolean;
      readonly limits?: Partial<DeviceLimits>;
      readonly withoutF16?: boolean;
      /** Of the time the device may work for the ring, above 0 and at most 1 (the default). */
      readonly share?: number;
    }
  | { readonly kind: "wake" }
  /** Another share from now on. */
  | { readonly kind: "share"; readonly share: number };

/** From the gpu thread, at its end; the control block tells everything else. */
export type FromGpuThread =
  | { readonly kind: "closed" }
  | { readonly kind: "failed"; readonly message: string };
