// The messages between the page and the agent. Types only; both threads.

import type { Contribution, ProjectView, VolunteerState } from "./volunteer_state.ts";

export type ToAgent =
  | {
      readonly kind: "start";
      readonly code: string;
      readonly visible: boolean;
      /** Whether the browser ended the last visit while the device computed. The agent then asks for less memory. */
      readonly careful: boolean;
      /** The share of the graphics device's time that the volunteer lends, above 0 and at most 1. */
      readonly gpuShare: number;
    }
  | { readonly kind: "gpu_share"; readonly share: number }
  | { readonly kind: "visibility"; readonly visible: boolean }
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
  /** With these values the page itself can report to the server that it closes. A socket's last messages may be lost. */
  | { readonly kind: "session"; readonly session: number; readonly authorization: string }
  /** The answer to `forget`; false if the server could not be told. */
  | { readonly kind: "forgotten"; readonly done: boolean }
  /** The agent has given everything back. The page may end the thread. */
  | { readonly kind: "ended" };
