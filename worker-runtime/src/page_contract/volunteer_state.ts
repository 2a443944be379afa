// The volunteer's state, which the page shows. The agent thread makes it and sends it to the page thread as structured
// clones.

import type { TooMuchData } from "../governor/data_limits.ts";
import type { Cooling, PausingRule } from "../governor/governor.ts";
import type { Limits } from "../governor/limits.ts";
import type { MissingCode } from "../platform/required.ts";

/** The reasons why a browser cannot compute. Each has sentences in `web-client/src/i18n`. */
export type UnsupportedReason =
  | MissingCode
  | "not_isolated" // no COOP/COEP, as in many in-app browsers, and no JSPI as a replacement
  | "insecure_context" // plain http on another host than localhost
  | "no_shared_memory"
  | "no_module_workers"
  | "no_wasm_simd";

export interface TrialView {
  readonly study: number;
  readonly studyName: string;
  readonly owner: string;
  readonly number: number;
  /** The number of the study's trials; null if unknown, because its owner asks for them one by one. */
  readonly total: number | null;
  /** The parameters, for display only, because their numbers may have lost Python's type. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly startedAt: number; // performance.timeOrigin-based Unix ms
  readonly points: readonly (readonly [step: number, value: number])[]; // the newest 200
}

export interface Contribution {
  readonly trials: number;
  readonly seconds: number;
}

/** The device's activity when the browser ended the last visit. */
export type Interrupted =
  | {
      readonly during: "trial";
      readonly study: number;
      readonly studyName: string;
      readonly number: number;
    }
  /** The page was in the background and computed nothing. */
  | { readonly during: "hidden" };

/**
 * The name of the study that an administrator of the server has stopped while this device computed it (R67). The
 * page shows the name until the device has computed another trial.
 */
export interface StoppedByOperator {
  readonly stoppedStudy?: string;
}

export type PauseReason = "hidden" | "by_choice" | PausingRule;

export type VolunteerState =
  | { readonly phase: "idle" }
  | { readonly phase: "unsupported"; readonly reason: UnsupportedReason }
  | { readonly phase: "joining" }
  | { readonly phase: "connecting"; readonly attempt: number; readonly retryAt: number | null }
  | ({
      readonly phase: "waiting";
      readonly reason: "no_work" | "no_matching_work" | "draining" | "read_only";
      /** The study that was not taken because of the limits on data. */
      readonly refused?: TooMuchData & { readonly study: string };
    } & StoppedByOperator)
  | ({
      readonly phase: "loading"; // assets of the trial below
      readonly loadedBytes: number;
      readonly totalBytes: number;
      readonly trial: TrialView;
    } & StoppedByOperator)
  | ({ readonly phase: "computing"; readonly trial: TrialView } & StoppedByOperator)
  // The trial has ended, but its result cannot be sent, because there is no connection.
  | ({ readonly phase: "delivering"; readonly trial: TrialView } & StoppedByOperator)
  // `hidden` ends when the page becomes visible, `by_choice` ends with resume(), and a limit ends by itself.
  // With `kept`, the running trial is in memory and goes on at the end of the pause, if that is soon enough.
  | {
      readonly phase: "paused";
      readonly reason: PauseReason;
      readonly kept?: boolean;
    }
  | { readonly phase: "stopped" }
  | { readonly phase: "finished" } // the server has the result of the trial that was to be the last
  | { readonly phase: "elsewhere" } // another tab of this browser computes
  | { readonly phase: "forgetting" } // the server is being asked to erase this device
  | { readonly phase: "forgotten" }
  | { readonly phase: "not_forgotten" } // the server could not be told; everything is as it was
  | { readonly phase: "replaced" } // another tab of this device took over
  | { readonly phase: "failed"; readonly code: string; readonly message: string };

export interface VolunteerSnapshot {
  readonly state: VolunteerState;
  readonly contribution: Contribution;
  readonly project: ProjectView | null;
  /** True while a wake lock keeps the screen on. */
  readonly awake: boolean;
  /** The device's activity when the browser ended an earlier visit; null if it did not end one. */
  readonly interrupted: Interrupted | null;
  /** Whether this device stops after the running trial. */
  readonly finishing: boolean;
  /** Why trials get less of the processor for now; null if they get all that is lent. */
  readonly cooling: Cooling | null;
}

/** The answer to `POST /api/project`. */
export interface ProjectView {
  readonly name: string;
  readonly owner: string;
  readonly studies: number;
  readonly trialsDone: number;
  readonly trialsTotal: number;
}

/** The page's handle of the agent thread, which does all work. Its methods return at once. */
export interface Volunteer {
  readonly snapshot: VolunteerSnapshot;
  /** Calls back after each change, at most once in an animation frame. Returns a function that stops this. */
  subscribe(listener: (snapshot: VolunteerSnapshot) => void): () => void;
  /**
   * Starts to compute. Must be called from a tap. Before that, nothing is joined, computed or fetched for computing. If
   * another tab computes, the state becomes `elsewhere`. A start from `elsewhere` or `replaced` takes over.
   */
  start(): void;
  /** Stops computing until resume(). The running trial is kept in memory for a while and then given back. */
  pause(): void;
  resume(): void;
  /** With `wanted`, stops after the running trial, or at once if none runs. Otherwise cancels such a stop. */
  finish(wanted: boolean): void;
  /** Sets the share of the graphics device's time for trials, above 0 and at most 1. It takes effect at once. */
  setGpuShare(share: number): void;
  /** Sets when this device may compute. It takes effect at once. */
  setLimits(limits: Limits): void;
  /** Releases the attempt and ends the compute threads. `start()` works again afterwards. */
  stop(): void;
  /**
   * Stops, and makes server and browser forget the device. Its results stay, without its name. Call it from a tap.
   */
  forget(): void;
}
