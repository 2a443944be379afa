// The helper thread of array-core's CPU back end in Node; see ../src/python/arraycore/arraycore_threads.ts. Runs on its own
// thread.

import { parentPort, workerData } from "node:worker_threads";
import { serveThread, type ThreadStart } from "../src/python/arraycore/arraycore_threads.ts";

await serveThread(workerData as ThreadStart, () => parentPort?.postMessage("ready"));
