// The script of a gpu thread with hooks in Node. `workerData` is the path of npm's module `webgpu`.

import { serveParent } from "../thread/node_gpu.ts";
import { HookedGpuThread } from "./gpu_hooks.fixture.ts";

await serveParent((gpu, post) => new HookedGpuThread(gpu, post));
