// Builds the compute origin's pages into `build/web`.

import { defineConfig } from "vite";
import { buildOf } from "./vite.pages.ts";

export default defineConfig({
  ...buildOf(["join", "selftest"], "build/web"),
  // A worker's file name begins with its entry's name, because the server gives `python-thread*` a policy of its own.
  worker: {
    format: "es",
    rolldownOptions: {
      output: {
        entryFileNames: "app/[name]-[hash].js",
        chunkFileNames: "app/[name]-[hash].js",
        assetFileNames: "app/[name]-[hash][extname]",
      },
    },
  },
});
