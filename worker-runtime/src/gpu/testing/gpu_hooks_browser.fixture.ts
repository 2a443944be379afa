// The script of a gpu thread with hooks in a browser.

import { HookedGpuThread, type ToHookedThread } from "./gpu_hooks.fixture.ts";

const thread = new HookedGpuThread(navigator.gpu, (message) => self.postMessage(message));
self.onmessage = (event: MessageEvent<ToHookedThread>) => thread.receive(event.data);
