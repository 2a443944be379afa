// The script of Node's gpu thread, which owns a Dawn device. `workerData` is the path of npm's `webgpu` module.

import { GpuService } from "./gpu_service.ts";
import { serveParent } from "./node_gpu.ts";

await serveParent((gpu, post) => new GpuService(gpu, post));
