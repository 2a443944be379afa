// The messages between the page and the agent. Types only; both threads.

import type { DataLimits } from "../governor/data_limits.ts";
import type {
  Contribution,
  ProjectView,
  UnsupportedReason,
  VolunteerState,
} from "./volunteer_state.ts";

export type ToAgent =
  | {
      readonly kind: "start";
      readonly code: string;
      readonly visible: boolean;
      /** Whether the browser ended the last visit while the device computed. If so, the agent asks for less memory. */
      readonly careful: boolean;
      /** The share of the graphics device's time that the volunteer lends, above 0 and at most 1. */
      readonly gpuShare: number;
      /** The share of the processor's time that the volunteer lends, above 0 and at most 1. */
      readonly processorShare: number;
      readonly dataLimits: DataLimits;
    }
  | { readonly kind: "gpu_share"; readonly share: number }
  | { readonly kind: "processor_share"; readonly share: number }
  /** What may still be fetched for studies. */
  | { readonly kind: "data_limits"; readonly limits: DataLimits }
  /** Whether this device may compute now. If not, a running trial is kept for a while. */
  | { readonly kind: "visibility"; readonly visible: boolean }
  /** Whether the page is in the background and computes there. The agent then measures whether the browser lets it. */
  | { readonly kind: "background"; readonly computes: boolean }
  /** The page closes. A running trial is given back at once. */
  | { readonly kind: "left" }
  | { readonly kind: "stop" }
  /** Sent instead of `start`. The agent makes the server and this browser forget the device. */
  | { readonly kind: "forget"; readonly code: string };

export type FromAgent =
  | {
      readonly kind: "changed";
      readonly state: VolunteerState;
      readonly contribution: Contribution;
      readonly project: ProjectView | null;
    }
  /** Sent in place of all else if this thread cannot compute. The page may end the thread. */
  | { readonly kind: "unsupported"; readonly reason: UnsupportedReason }
  /** The values with which the page can report that it closes, as a socket's last messages may be lost. */
  | { readonly kind: "session"; readonly session: number; readonly authorization: string }
  /** The answer to `forget`; false if the request to the server failed. */
  | { readonly kind: "forgotten"; readonly done: boolean }
  /** The browser slows the page down in the background, so it must not compute there. */
  | { readonly kind: "throttled" }
  /** Bytes that were fetched, as the network moved them. */
  | { readonly kind: "fetched"; readonly bytes: number }
  /** The processor's speed while a trial computes, from a piece of reference work every few seconds. */
  | { readonly kind: "pace"; readonly pace: number }
  /** The agent has released everything. The page may end the thread. */
  | { readonly kind: "ended" };
