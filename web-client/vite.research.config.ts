// Builds the researcher's page into a folder of its own, `build/web/console`, because another origin serves it: neither
// origin has the other's files. Runs after vite.config.ts, which empties `build/web`.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { precompress } from "./precompress.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  base: "/",
  publicDir: false,
  build: {
    outDir: here("../build/web/console"),
    emptyOutDir: true,
    assetsDir: "app",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: { research: here("research.html") } },
  },
  plugins: [precompress()],
});
