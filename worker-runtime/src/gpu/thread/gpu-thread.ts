// The script of the browser's gpu thread, which owns the WebGPU device. gpu_messages.ts has its messages.

import "../../platform/install.ts";
import type { ToGpuThread } from "./gpu_messages.ts";
import { GpuService } from "./gpu_service.ts";

const service = new GpuService(navigator.gpu, (message) => self.postMessage(message));
self.onmessage = (event: MessageEvent<ToGpuThread>) => service.receive(event.data);
