// What page and agent say to each other. Types only; both threads.

import type { Contribution, ProjectView, VolunteerState } from "./volunteer_state.ts";

export type ToAgent =
  | {
      readonly kind: "start";
      readonly code: string;
      readonly visible: boolean;
      /** The browser ended the last visit while it computed, so that less memory is asked for. */
      readonly careful: boolean;
      /** Of the graphics device's time that the volunteer lends, above 0 and at most 1. */
      readonly gpuShare: number;
    }
  | { readonly kind: "gpu_share"; readonly share: number }
  | { readonly kind: "visibility"; readonly visible: boolean }
  | { readonly kind: "stop" }
  /** Instead of a start: lets the server and this browser forget the device. */
  | { readonly kind: "forget"; readonly code: string };

export type FromAgent =
  | {
      readonly kind: "changed";
      readonly state: VolunteerState;
      readonly contribution: Contribution;
      readonly project: ProjectView | null;
    }
  /** By this the page tells the server that it goes away: a socket's last words may be cut. */
  | { readonly kind: "session"; readonly session: number; readonly authorization: string }
  /** The answer to `forget`; false where the server could not be told. */
  | { readonly kind: "forgotten"; readonly done: boolean }
  /** Everything is given back; the thread may be ended. */
  | { readonly kind: "ended" };
