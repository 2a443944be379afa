// Entry of the browser's gpu thread: owns the WebGPU device. Messages are those of gpu_messages.ts.

import type { ToGpuThread } from "./gpu_messages.ts";
import { GpuService } from "./gpu_service.ts";

const service = new GpuService(navigator.gpu, (message) => self.postMessage(message));
self.onmessage = (event: MessageEvent<ToGpuThread>) => service.receive(event.data);
