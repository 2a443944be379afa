// Builds the pages that volunteers open into `build/web`.

import { defineConfig } from "vite";
import { shellFiles } from "./shell_files.ts";
import { buildOf } from "./vite.pages.ts";

export default defineConfig({
  ...buildOf(["join", "selftest"], "build/web", [
    shellFiles("join", ["selftest", "probe-thread", "webgl2_open", "webgl2_probe"]),
  ]),
  // A worker's file name begins with the name of its source file, because the server sends the files `python-thread*`
  // with a Content-Security-Policy of their own.
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
