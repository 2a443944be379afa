// Builds the pages that the server sends: `build/web/<page>.html`, everything else content-addressed below
// `build/web/app/`. Nothing is inlined, because the pages' policy allows scripts and styles from files only.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { precompress } from "./precompress.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  base: "/",
  publicDir: false,
  build: {
    outDir: here("../build/web"),
    emptyOutDir: true,
    assetsDir: "app",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: { join: here("join.html") } },
  },
  // A worker's file keeps its entry's name in front: the server gives `python-thread*` a policy of its own.
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
  plugins: [precompress()],
});
