// The types of the state machine in machine.ts: events that happen to the agent, and actions that it takes. Pure; agent
// thread.

import type { TooMuchData } from "../../governor/data_limits.ts";
import type { ClientMessage, Lease, ServerMessage } from "../../protocol/index.ts";
import type { AskedCall, RefusedCall } from "./asked_call.ts";
import type { Finished } from "./finished.ts";
import type { KeptCheckpoint } from "./kept_checkpoint.ts";
import type { Outcome } from "./outcome.ts";
import type { UploadResult } from "./saving.ts";
import type { LoggedRow } from "./series.ts";
import type { UploadHead } from "./upload_head.ts";

/**
 * This browser's identity in one project. The secret is sent to the server. It is also sent to the page thread, which
 * needs it for a request while the page closes.
 */
export interface Device {
  readonly device: string;
  readonly secret: string;
}

export type AgentEvent =
  // Events of the volunteer and the page.
  | {
      readonly kind: "start";
      readonly device: Device | null;
      readonly visible: boolean;
      /** A result of this device that an earlier visit could not deliver. */
      readonly finished?: Finished | null;
      /** A checkpoint that only this device has. */
      readonly kept?: KeptCheckpoint | null;
    }
  // The page is hidden or pauses. An attempt is kept for a while.
  | { readonly kind: "hidden" }
  | { readonly kind: "visible" }
  // The page closes, or goes to another address. An attempt is given back at once.
  | { readonly kind: "left" }
  | { readonly kind: "stop" }
  // An event of the clock: the time that `nextDeadline` returned has come.
  | { readonly kind: "tick" }
  // POST /api/join.
  | { readonly kind: "joined"; readonly device: Device }
  | {
      readonly kind: "join_failed";
      readonly code: string;
      readonly message: string;
      readonly permanent: boolean;
    }
  // The WebSocket.
  | { readonly kind: "opened" }
  | { readonly kind: "message"; readonly message: ServerMessage }
  | { readonly kind: "closed"; readonly code: number }
  // Events of the python thread and of its files.
  | { readonly kind: "loading"; readonly loaded: number; readonly total: number }
  | {
      readonly kind: "running";
      readonly attempt: number;
      /** Whether the attempt begins with the checkpoint that this device has kept. */
      readonly fromKept?: boolean;
    }
  | {
      readonly kind: "report";
      readonly attempt: number;
      readonly step: number;
      readonly value: number;
    }
  // A row of named series was logged.
  | { readonly kind: "log"; readonly attempt: number; readonly row: LoggedRow }
  | {
      readonly kind: "call";
      readonly attempt: number;
      readonly sequence: number;
      readonly asked: AskedCall | RefusedCall;
    }
  | {
      readonly kind: "upload";
      readonly attempt: number;
      readonly sequence: number;
      readonly head: UploadHead | RefusedCall;
      readonly sha256: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  // The upload with this id has ended.
  | { readonly kind: "uploaded"; readonly id: number; readonly result: UploadResult }
  | { readonly kind: "output"; readonly attempt: number; readonly text: string }
  | {
      readonly kind: "outcome";
      readonly attempt: number;
      readonly outcome: Outcome;
      readonly runMs: number;
      /** The back end and the versions that computed the attempt (R52); empty if unknown. */
      readonly backend: string;
      readonly software: string;
    }
  // The attempt did not begin, because the volunteer's limits do not let its files be fetched.
  | { readonly kind: "too_much_data"; readonly attempt: number; readonly why: TooMuchData }
  // The limits on data let more be fetched than before.
  | { readonly kind: "data_allowed" }
  // The attempt could not begin, because files or data are missing.
  | {
      readonly kind: "cannot_run";
      readonly attempt: number;
      readonly code: string;
      readonly message: string;
    }
  // The python thread crashed while it ran this attempt.
  | {
      readonly kind: "crashed";
      readonly attempt: number;
      readonly code: string;
      readonly message: string;
    };

export type AgentAction =
  | { readonly kind: "join" }
  | { readonly kind: "forget_device" }
  | { readonly kind: "open" }
  /** Closes the socket. Its later events are ignored. */
  | { readonly kind: "close"; readonly code: number }
  | { readonly kind: "send"; readonly message: ClientMessage }
  /** Starts to load a python thread, if none exists. */
  | { readonly kind: "warm" }
  /** Runs an attempt. It begins with `kept`, if this device still has it, and else with the lease's checkpoint. */
  | { readonly kind: "run"; readonly lease: Lease; readonly kept?: KeptCheckpoint }
  /** Forgets an attempt that has not begun to run. */
  | { readonly kind: "abort"; readonly attempt: number }
  /** Requests a KeyboardInterrupt in Python. */
  | { readonly kind: "interrupt"; readonly attempt: number }
  /** Says that the device may soon be gone, or is here again. A trial that can then saves a checkpoint. */
  | { readonly kind: "leaving"; readonly isLeaving: boolean }
  /** Stops Python in the middle of its code, with everything in memory, or lets it go on. */
  | { readonly kind: "park"; readonly wanted: boolean }
  /** Ends the python thread at once. */
  | { readonly kind: "terminate" }
  /** Reports that no trial is expected. A Pyodide that has run a trial is then replaced. */
  | { readonly kind: "idle" }
  | { readonly kind: "answer"; readonly sequence: number; readonly text: string }
  /** Informs Python how many points and rows of the running attempt the server has. */
  | { readonly kind: "taken"; readonly points: number }
  /** Uploads a checkpoint or an artifact of the running attempt. The event `uploaded` follows. */
  | {
      readonly kind: "upload";
      readonly id: number;
      readonly attempt: number;
      readonly head: UploadHead;
      readonly sha256: string;
      /** The content; null if it is the checkpoint that this device keeps. */
      readonly bytes: Uint8Array<ArrayBuffer> | null;
      /** The time limit for all tries; null if the upload is tried until `forget_upload`. */
      readonly limitMs: number | null;
    }
  /** Cancels the current upload. */
  | { readonly kind: "forget_upload" }
  /** Keeps a checkpoint on this device, in place of the one before. */
  | {
      readonly kind: "keep";
      readonly kept: KeptCheckpoint;
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  /** Removes the kept checkpoint, if it is this one. */
  | { readonly kind: "forget_kept"; readonly sha256: string }
  | { readonly kind: "contributed"; readonly runMs: number }
  /** The volunteer has stopped, so the agent thread may end. */
  | { readonly kind: "end" };

export type EventOf<Kind extends AgentEvent["kind"]> = Extract<AgentEvent, { kind: Kind }>;
