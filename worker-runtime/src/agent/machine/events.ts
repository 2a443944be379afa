// What happens to the agent and what it does about it: the two alphabets of machine.ts. Pure; agent thread.

import type { ClientMessage, Lease, ServerMessage } from "../../protocol/index.ts";
import type { AskedCall, RefusedCall } from "./asked_call.ts";
import type { Outcome } from "./outcome.ts";
import type { UploadHead } from "./upload_head.ts";

/** This browser's identity towards one project; the secret goes to the server, and to the page's thread
 * for the one request that outlives the page. */
export interface Device {
  readonly device: string;
  readonly secret: string;
}

export type AgentEvent =
  // The volunteer and the page.
  | { readonly kind: "start"; readonly device: Device | null; readonly visible: boolean }
  | { readonly kind: "hidden" }
  | { readonly kind: "visible" }
  | { readonly kind: "stop" }
  // The clock: nothing else happened, but `nextDeadline` has come.
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
  // The python thread and what it needs.
  | { readonly kind: "loading"; readonly loaded: number; readonly total: number }
  | { readonly kind: "running"; readonly attempt: number }
  | {
      readonly kind: "report";
      readonly attempt: number;
      readonly step: number;
      readonly value: number;
    }
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
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  // An upload has ended; `text` is the answer for Python.
  | {
      readonly kind: "uploaded";
      readonly attempt: number;
      readonly sequence: number;
      readonly text: string;
    }
  | { readonly kind: "output"; readonly attempt: number; readonly text: string }
  | {
      readonly kind: "outcome";
      readonly attempt: number;
      readonly outcome: Outcome;
      readonly runMs: number;
      /** What it computed on, and by which versions (R52); empty: nobody could say. */
      readonly backend: string;
      readonly software: string;
    }
  // The attempt could not begin: assets or data are missing.
  | {
      readonly kind: "cannot_run";
      readonly attempt: number;
      readonly code: string;
      readonly message: string;
    }
  // The python thread died while it ran this attempt.
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
  /** Closes the socket; nothing of it is heard afterwards. */
  | { readonly kind: "close"; readonly code: number }
  | { readonly kind: "send"; readonly message: ClientMessage }
  /** Begins to load a python thread when there is none. */
  | { readonly kind: "warm" }
  | { readonly kind: "run"; readonly lease: Lease }
  /** Forgets an attempt that has not begun to run. */
  | { readonly kind: "abort"; readonly attempt: number }
  /** Asks Python for a KeyboardInterrupt. */
  | { readonly kind: "interrupt"; readonly attempt: number }
  /** Ends the python thread, whatever it does. */
  | { readonly kind: "terminate" }
  /** No trial is in sight: a Pyodide that ran one is replaced. */
  | { readonly kind: "idle" }
  | { readonly kind: "answer"; readonly sequence: number; readonly text: string }
  /** So many points of the running attempt are with the server. */
  | { readonly kind: "taken"; readonly points: number }
  /** Brings a checkpoint or an artifact of the running attempt to the server; `uploaded` follows. */
  | {
      readonly kind: "upload";
      readonly attempt: number;
      readonly sequence: number;
      readonly head: UploadHead;
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  /** Whatever is being uploaded is of no use any more. */
  | { readonly kind: "forget_upload" }
  | { readonly kind: "contributed"; readonly runMs: number }
  /** The volunteer stopped; the agent thread may end. */
  | { readonly kind: "end" };

export type EventOf<Kind extends AgentEvent["kind"]> = Extract<AgentEvent, { kind: Kind }>;
