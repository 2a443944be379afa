// The one script that a trial's runtime may start threads of: it helps array-core and knows nothing else. Own thread.

import { serveThread, type ThreadStart } from "./arraycore_threads.ts";

declare const self: DedicatedWorkerGlobalScope;

self.addEventListener("message", (event: MessageEvent<ThreadStart>) => {
  void serveThread(event.data, () => self.postMessage("ready"));
});
