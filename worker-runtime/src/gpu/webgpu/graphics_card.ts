// Finds out whether this machine has a graphics card that WebGPU could use. Node, any thread.

import { existsSync } from "node:fs";

export const hasGraphicsCard = (): boolean =>
  existsSync("/dev/dri") || existsSync("/dev/nvidiactl");
