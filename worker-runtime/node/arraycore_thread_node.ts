// array-core's helping thread in Node; see ../src/python/arraycore_threads.ts. Own thread.

import { parentPort, workerData } from "node:worker_threads";
import { serveThread, type ThreadStart } from "../src/python/arraycore/arraycore_threads.ts";

await serveThread(workerData as ThreadStart, () => parentPort?.postMessage("ready"));
