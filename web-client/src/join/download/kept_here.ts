// Looks up what this browser has kept of a project's downloads, without asking the network. Page thread.

import { isBlobKept } from "@hyperflock/worker-runtime/page";
import type { Kept } from "./download.ts";

export const keptHere: Kept = {
  piece: async (path) => {
    try {
      const answer = await fetch(path, { cache: "only-if-cached", mode: "same-origin" });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false; // It is not in the cache, or the browser does not say.
    }
  },
  blob: isBlobKept,
};
