// The names of the self-test's checks, and their findings. Page thread; pure data.

/** The names of the checks, in the order of the table. */
export const checkNames = [
  "isolation",
  "basics",
  "thread",
  "shared_memory",
  "wasm_simd",
  "relaxed_simd",
  "jspi",
  "functions",
  "webgpu",
  "webgl2",
  "memory",
  "array_memory",
  "storage",
  "wake_lock",
  "web_locks",
  "clock",
  "numpy",
] as const;
export type CheckName = (typeof checkNames)[number];

/**
 * `limited`: present, but less than recommended. `missing`: not offered by this browser. `failed`: the check failed.
 * `skipped`: not checked, or not yet.
 */
export type FindingState = "ok" | "limited" | "missing" | "failed" | "skipped";

export interface Finding {
  readonly state: FindingState;
  /** Numbers and names for experts: the same in every language, at most 256 characters. */
  readonly detail: string;
}

export interface Check extends Finding {
  readonly name: CheckName;
}

const DETAIL_CHARACTERS = 256;

export function finding(state: FindingState, detail = ""): Finding {
  return { state, detail: [...detail].slice(0, DETAIL_CHARACTERS).join("") };
}
