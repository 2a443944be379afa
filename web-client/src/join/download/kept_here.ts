// Looks up what this browser has kept of a project's downloads, without asking the network. Page thread.

import { isBlobKept, isFileKept } from "@hyperflock/worker-runtime/page";
import type { Kept } from "./download.ts";

export const keptHere: Kept = { piece: isFileKept, blob: isBlobKept };
