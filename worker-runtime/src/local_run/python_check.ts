// The self-test of Python. It uses the same threads, runtime and call channel as trials, and computes a small result with
// NumPy that is known in advance. It sends nothing to the server. Runs on the page thread, which it never blocks.

import { capabilitiesOf, heapLimitOf } from "../agent/device/capabilities.ts";
import * as api from "../agent/files/api.ts";
import type { AgentEvent } from "../agent/machine/events.ts";
import { PythonHost } from "../agent/python_host/python_host.ts";
import { spawnPython } from "../agent/python_host/spawn_python.ts";
import { sha256Hex } from "../base/hex.ts";
import { answerText } from "../channel/block.ts";
import { type ProbeScope, sharesMemory } from "../page_contract/probe.ts";
import type { Lease } from "../protocol/index.ts";
import { storedZip } from "./stored_zip.ts";

const SIZE = 96;
const MODULUS = 7;
const CHECK_MS = 180_000;
const ATTEMPT = 1;

// The numbers are small integers. So float32 can hold each sum exactly, and every engine computes the same sums. The
// call of `should_prune` tests that Python waits for an answer.
const PROGRAM = `
import numpy as np

def check(trial):
    a = (np.arange(${SIZE} * ${SIZE}, dtype=np.float32) % ${MODULUS}).reshape(${SIZE}, ${SIZE})
    product = a @ a.T
    trial.report(float(product.sum()), 0)
    if trial.should_prune():
        return 0.0
    return [float(product.sum()), float(np.trace(product)), float(np.sort(a.ravel())[-1])]
`;

export interface PythonCheck {
  readonly isRight: boolean;
  /** The code of the failure if the check failed, else null. */
  readonly code: string | null;
  readonly message: string;
  /** The method by which Python waits for the browser. */
  readonly waitsBy: "shared memory" | "JSPI";
  readonly loadMs: number;
  readonly runMs: number;
}

/** Fetches the runtime (about 8 MB the first time) and computes. Never rejects. */
export async function checkPython(
  onLoading: (loaded: number, total: number) => void,
): Promise<PythonCheck> {
  const began = performance.now();
  const isShared = sharesMemory(globalThis as ProbeScope);
  const waitsBy = isShared ? "shared memory" : "JSPI";
  let runningAt: number | null = null;
  const { promise, resolve } = Promise.withResolvers<PythonCheck>();
  const end = (code: string | null, message: string) => {
    const now = performance.now();
    resolve({
      isRight: code === null,
      code,
      message,
      waitsBy,
      loadMs: Math.round((runningAt ?? now) - began),
      runMs: runningAt === null ? 0 : Math.round(now - runningAt),
    });
  };
  const bundle = storedZip("selftest.py", PROGRAM);
  const host = new PythonHost({
    spawn: spawnPython,
    sharesMemory: isShared,
    heapBytes: heapLimitOf(capabilitiesOf(navigator)),
    now: () => performance.now(),
    runtimeIndex: (id) => api.runtimeIndex(api.indexAddress(id)),
    fetchBlob: async () => bundle,
    fetchCheckpoint: async () => null,
    arraycore: null,
    fetchOptuna: async () => [],
    fetchPacks: async () => [],
    log: () => {},
    emit: (event: AgentEvent) => {
      if (event.kind === "loading") onLoading(event.loaded, event.total);
      else if (event.kind === "running") runningAt = performance.now();
      else if (event.kind === "call") host.answer(event.sequence, answerText(false));
      else if (event.kind === "cannot_run" || event.kind === "crashed")
        end(event.code, event.message);
      else if (event.kind === "outcome") end(...judge(event.outcome));
    },
  });
  const timer = setTimeout(() => end("check_timeout", "Python did not answer in time."), CHECK_MS);
  try {
    host.run(await leaseOf(bundle));
    return await promise;
  } catch (error) {
    end("unreachable", error instanceof Error ? error.message : String(error));
    return await promise;
  } finally {
    clearTimeout(timer);
    host.terminate();
  }
}

async function leaseOf(bundle: Uint8Array<ArrayBuffer>): Promise<Lease> {
  const { pieces } = await api.runtimeIndex(api.indexAddress(undefined));
  const chainer = Object.keys(pieces).find((name) => name.startsWith("chainer-"));
  return {
    attempt: ATTEMPT,
    study: 1,
    trial: 0,
    kind: "primary",
    study_name: "selftest",
    owner: "",
    total: 1,
    params: "{}",
    seed: 0,
    entry: "selftest:check",
    bundle: { sha256: await sha256Hex(bundle), bytes: bundle.length },
    data: [],
    runtime: { chainer: chainer?.slice("chainer-".length) ?? "none" },
    time_limit_ms: CHECK_MS,
    lease_ms: CHECK_MS,
  };
}

/** Returns the values that the program must return, computed by plain arithmetic. */
export function expectedValues(): readonly number[] {
  const a = (row: number, column: number) => (row * SIZE + column) % MODULUS;
  let sum = 0;
  let trace = 0;
  for (let row = 0; row < SIZE; row += 1) {
    for (let other = 0; other < SIZE; other += 1) {
      for (let k = 0; k < SIZE; k += 1) {
        const product = a(row, k) * a(other, k);
        sum += product;
        if (row === other) trace += product;
      }
    }
  }
  return [sum, trace, MODULUS - 1];
}

type Outcome = Extract<AgentEvent, { kind: "outcome" }>["outcome"];

function judge(outcome: Outcome): [code: string | null, message: string] {
  if (outcome.outcome === "failed") return [outcome.error.code, outcome.error.message];
  if (outcome.outcome === "pruned") return ["wrong_result", "The answer to a call was changed."];
  const expected = expectedValues();
  const isRight =
    outcome.values.length === expected.length &&
    outcome.values.every((value, i) => value === expected[i]);
  return isRight ? [null, ""] : ["wrong_result", `NumPy gave ${outcome.values.join(", ")}.`];
}
