// Examines a thread of this browser, which may have less than the page: the agent's thread does the same after a start.
// Runs on the page thread.

import type { UnsupportedReason } from "../page_contract/volunteer_state.ts";

/** A thread on a busy phone starts within this time. */
const ANSWER_MS = 20_000;

export class ThreadCheckError extends Error {
  override readonly name = "ThreadCheckError";
}

/**
 * Returns why trials cannot run in this browser's threads; null if they can. Throws ThreadCheckError if no thread
 * answers.
 */
export function checkThread(): Promise<UnsupportedReason | null> {
  const worker = new Worker(new URL("./probe-thread.ts", import.meta.url), {
    type: "module",
    name: "hyperflock probe",
  });
  const answer = new Promise<UnsupportedReason | null>((resolve, reject) => {
    const fail = (why: string) => reject(new ThreadCheckError(why));
    worker.addEventListener("message", (event: MessageEvent<UnsupportedReason | null>) =>
      resolve(event.data),
    );
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      fail(event.message || "The thread's script cannot be loaded.");
    });
    setTimeout(() => fail(`no answer for ${ANSWER_MS / 1000} s`), ANSWER_MS);
  });
  return answer.finally(() => worker.terminate());
}
