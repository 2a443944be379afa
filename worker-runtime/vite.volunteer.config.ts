// Builds the volunteer for Node (node/volunteer) into `build/volunteer`: one folder of scripts without node_modules.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
// The output keeps the name `thread.js`, because `volunteer.js` starts it by this name.
const output = {
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  assetFileNames: "[name]-[hash][extname]",
};

export default defineConfig({
  root: here("."),
  base: "./",
  publicDir: false,
  build: {
    outDir: here("../build/volunteer"),
    emptyOutDir: true,
    target: "node22",
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        volunteer: here("node/volunteer/volunteer.ts"),
        thread: here("node/volunteer/thread.ts"),
      },
      external: [/^node:/],
      output,
    },
  },
  worker: { format: "es", rolldownOptions: { output } },
});
