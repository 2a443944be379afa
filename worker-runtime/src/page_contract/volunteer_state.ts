// What the page shows. Made by the agent thread, sent to the page thread as structured clones.

/** Why this browser cannot compute; each has a sentence in `web-client/src/i18n`. */
export type UnsupportedReason =
  | "not_isolated" // no COOP/COEP, as in many in-app browsers, and no JSPI that would do without
  | "insecure_context" // plain http on another host than localhost
  | "no_shared_memory"
  | "no_module_workers"
  | "no_wasm_simd";

export interface TrialView {
  readonly study: number;
  readonly studyName: string;
  readonly owner: string;
  readonly number: number;
  /** How many the study has; null: nobody knows, its trials are asked for one by one. */
  readonly total: number | null;
  /** Parameters for display only: numbers have lost their Python kind. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly startedAt: number; // performance.timeOrigin-based Unix ms
  readonly points: readonly (readonly [step: number, value: number])[]; // the newest 200
}

export interface Contribution {
  readonly trials: number;
  readonly seconds: number;
}

/** What the browser ended in the middle, at the last visit. */
export type Interrupted =
  | {
      readonly during: "trial";
      readonly study: number;
      readonly studyName: string;
      readonly number: number;
    }
  /** The page was in the background and computed nothing. */
  | { readonly during: "hidden" };

export type VolunteerState =
  | { readonly phase: "idle" }
  | { readonly phase: "unsupported"; readonly reason: UnsupportedReason }
  | { readonly phase: "joining" }
  | { readonly phase: "connecting"; readonly attempt: number; readonly retryAt: number | null }
  | {
      readonly phase: "waiting";
      readonly reason: "no_work" | "no_matching_work" | "draining" | "read_only";
    }
  | {
      readonly phase: "loading"; // assets of the trial below
      readonly loadedBytes: number;
      readonly totalBytes: number;
      readonly trial: TrialView;
    }
  | { readonly phase: "computing"; readonly trial: TrialView }
  // `hidden` resumes by itself when the page is visible, `by_choice` by resume().
  | { readonly phase: "paused"; readonly reason: "hidden" | "by_choice" }
  | { readonly phase: "stopped" }
  | { readonly phase: "finished" } // the trial that was to be the last one is with the server
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
  /** How the browser ended an earlier visit; null if it did not. */
  readonly interrupted: Interrupted | null;
  /** Whether the running trial is the last one. */
  readonly finishing: boolean;
}

/** Answer of `POST /api/project`. */
export interface ProjectView {
  readonly name: string;
  readonly owner: string;
  readonly studies: number;
  readonly trialsDone: number;
  readonly trialsTotal: number;
}

/** The page's handle of the agent thread, which does all work. These calls return at once. */
export interface Volunteer {
  readonly snapshot: VolunteerSnapshot;
  /** Calls back after each change, at most once in an animation frame. Returns a function that ends this. */
  subscribe(listener: (snapshot: VolunteerSnapshot) => void): () => void;
  /**
   * Must be called from a tap. Nothing is joined, fetched for compute or computed before. While another tab computes it
   * leads to `elsewhere`; from there, and from `replaced`, it takes over.
   */
  start(): void;
  /** Gives the running trial back and takes no other until resume(). */
  pause(): void;
  resume(): void;
  /** With `wanted`, stops after the running trial, or at once if none runs. Without it, goes on. */
  finish(wanted: boolean): void;
  /** Sets the share of the graphics device's time for trials, above 0 and at most 1. It takes effect at once. */
  setGpuShare(share: number): void;
  /** Releases the attempt and ends the compute threads. `start()` works afterwards. */
  stop(): void;
  /**
   * Stops, and makes the server and this browser forget the device. Its results stay, without its name. Call it from a tap.
   */
  forget(): void;
}
