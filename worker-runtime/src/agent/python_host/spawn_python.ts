// Starts a python thread as a worker of the calling thread, which is the agent thread or the self-test page's thread.

import type { ThreadPort } from "./python_host.ts";

export function spawnPython(
  onMessage: (message: unknown) => void,
  onError: (message: string) => void,
): ThreadPort {
  // The server recognises this script by its name and sends it with its own Content-Security-Policy.
  const worker = new Worker(new URL("../../python/python-thread.ts", import.meta.url), {
    type: "module",
    name: "hyperflock python",
  });
  worker.addEventListener("message", (event: MessageEvent<unknown>) => onMessage(event.data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    onError(event.message || "The python thread's script cannot be loaded.");
  });
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    terminate: () => worker.terminate(),
  };
}
