// The messages between the agent and the python thread, over the port that connects them. Both threads.

import type { CallRequest } from "../channel/caller.ts";
import type { PostedToCaller } from "../channel/posted_answerer.ts";
import type { ToGpuThread } from "../gpu/thread/gpu_messages.ts";
import type { Backend } from "../protocol/index.ts";

/** The longest text of an outcome: values, or a traceback of 16 KiB with its escapes. */
export const OUTCOME_CHARACTERS = 262_144;

export interface RuntimeFile {
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  /** The bytes that the network moves, compressed by brotli and by gzip; missing where a form is not served. */
  readonly br?: number | null | undefined;
  readonly gz?: number | null | undefined;
}

export interface RuntimePiece {
  readonly version: string;
  /** The URL of a folder on this origin. It ends with a slash. */
  readonly base: string;
  readonly files: readonly RuntimeFile[];
}

/** The content of `/runtime/index.json`. */
export interface RuntimeIndex {
  readonly runtime: string;
  readonly pieces: Readonly<Record<string, RuntimePiece>>;
}

/** A package that only some studies need, such as scikit-learn. */
export interface Pack extends RuntimePiece {
  /** The names of the packs that it needs itself. */
  readonly needs: readonly string[];
}

/** The content of `/runtime/packs.json`. */
export interface PackIndex {
  /** The version of Pyodide that the packs are built for; null if there are none. */
  readonly pyodide: string | null;
  readonly packs: Readonly<Record<string, Pack>>;
}

export interface DataFile {
  readonly name: string;
  readonly kind: "npy" | "npz" | "file";
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The parts of array-core that the agent fetched. */
export interface ArraycoreParts {
  readonly module: WebAssembly.Module;
  /** The Python package, a zip of compiled files. */
  readonly archive: Uint8Array<ArrayBuffer>;
}

/** The devices that an attempt may use, in the form that `hyperflock._trial.devices` reads. */
export interface DeviceOffer {
  /** The device that the study asked for. */
  readonly wanted: Backend;
  /** The back ends of array-core that can run here. */
  readonly backends: readonly ("webgpu" | "webgl2" | "cpu")[];
  /** The reason why a back end cannot run here, by the back end's name. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Whether the graphics device is a program on the CPU. */
  readonly software: boolean;
  /** The limit in bytes for all arrays on the GPU together. */
  readonly budget_bytes: number;
}

/** The fields of an attempt that only an attempt of an Optuna study has. */
export interface AskedSpec {
  /** The number of objectives. */
  readonly directions: number;
  /** The values that were suggested before, as JSON text. */
  readonly suggested: string | null;
  /** The attributes with which the trial begins, as JSON text. */
  readonly attrs: string | null;
}

/** The attempt in the form that `hyperflock_worker.runner.run_attempt` reads. */
export interface AttemptSpec {
  readonly attempt: number;
  readonly study: number;
  readonly trial: number;
  readonly entry: string;
  /** The parameters as JSON text. */
  readonly params: string;
  readonly seed: number;
  readonly chainer: string;
  /** The offered devices; null if the study asks for no device. */
  readonly device: DeviceOffer | null;
  /** The fields for an Optuna study; null for other studies. */
  readonly asked: AskedSpec | null;
}

/** The checkpoint with which the attempt begins. */
export interface CheckpointFile {
  readonly format: "tree" | "npz";
  /** The last step that was reported before the checkpoint was saved. */
  readonly step: number | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type ToPython =
  | {
      readonly kind: "load";
      /** The shared memory. If there is none (null), Python waits by JSPI. */
      readonly memory: SharedArrayBuffer | null;
      /** The pieces in the order in which they are needed; the first is Pyodide. */
      readonly pieces: readonly RuntimePiece[];
      /** The limit of Python's heap in bytes. */
      readonly heapBytes: number;
    }
  | {
      readonly kind: "run";
      readonly spec: AttemptSpec;
      readonly bundle: Uint8Array<ArrayBuffer>;
      readonly data: readonly DataFile[];
      readonly checkpoint: CheckpointFile | null;
      /** Sent with the thread's first attempt of a study that asks for a device; null with other attempts. */
      readonly arraycore: ArraycoreParts | null;
      /** Zips of packages that not every study needs, such as Optuna, each sent once to a thread. */
      readonly packages: readonly Uint8Array<ArrayBuffer>[];
    }
  | PostedToCaller;

export interface LoadTimings {
  /** The time at which each step was done, in milliseconds since the thread began. */
  readonly [step: string]: number;
}

export type FromPython =
  | { readonly kind: "loading"; readonly loaded: number; readonly total: number }
  | {
      readonly kind: "loaded";
      readonly timings: LoadTimings;
      /** The bytes that the thread has fetched, as the network moved them. */
      readonly fetchedBytes: number;
    }
  | {
      readonly kind: "report";
      readonly attempt: number;
      readonly step: number;
      readonly value: number;
    }
  /** A row of named series, as JSON text. */
  | { readonly kind: "log"; readonly attempt: number; readonly row: string }
  /** The liveness counter of a thread that shares no memory with the agent. */
  | { readonly kind: "progress"; readonly attempt: number; readonly count: number }
  | ({ readonly kind: "call"; readonly attempt: number } & CallRequest)
  /** A call with bytes. It is answered as other calls are. */
  | {
      readonly kind: "upload";
      readonly attempt: number;
      readonly sequence: number;
      /** JSON text of an UploadHead. */
      readonly head: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  /** A line that the objective printed. */
  | { readonly kind: "output"; readonly attempt: number; readonly text: string }
  | {
      readonly kind: "outcome";
      readonly attempt: number;
      /** The JSON text that run_attempt returned. */
      readonly outcome: string;
      readonly runMs: number;
      /** Whether this thread cannot run another attempt, so that the agent must end it. */
      readonly isLast?: boolean | undefined;
    }
  /** A message of array-core to the gpu thread. Everything else is sent through the ring. */
  | { readonly kind: "gpu"; readonly message: ToGpuThread }
  /** The thread cannot continue. */
  | { readonly kind: "crashed"; readonly code: string; readonly message: string };
