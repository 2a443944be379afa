// Entry of a gpu thread with hooks, in Node. `workerData` is the path of npm's `webgpu` module.

import { HookedGpuThread } from "./gpu_hooks.fixture.ts";
import { serveParent } from "./node_gpu.ts";

await serveParent((gpu, post) => new HookedGpuThread(gpu, post));
