// The script of array-core's helper threads. A trial's runtime may start threads with this script only. Runs on a helper
// thread.

import "../../platform/install.ts";
import { serveThread, type ThreadStart } from "./arraycore_threads.ts";

declare const self: DedicatedWorkerGlobalScope;

self.addEventListener("message", (event: MessageEvent<ThreadStart>) => {
  void serveThread(event.data, () => self.postMessage("ready"));
});
