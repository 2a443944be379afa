// Builds the script of the researcher's local runs into `build/web/app/local`. Its URLs are relative, because the package
// serves it on loopback below a secret path. `build/web/local-run.json` lists the files with their hashes. Runs after
// vite.config.ts, which empties `build/web`.

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { precompress } from "./precompress.ts";
import { TARGET } from "./vite.pages.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const names = {
  entryFileNames: "[name]-[hash].js",
  chunkFileNames: "[name]-[hash].js",
  assetFileNames: "[name]-[hash][extname]",
};

/**
 * Writes a list of the built files. The list is next to the folder `app` and not in it, because the server treats the
 * files in `app` as files that never change. The list has no hash in its name, so it changes with every build.
 */
function listing(): Plugin {
  let outDir = "";
  return {
    name: "hyperflock:local-run-listing",
    apply: "build",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    async writeBundle() {
      const scripts = (await readdir(outDir)).filter((name) => name.endsWith(".js")).sort();
      const files = await Promise.all(
        scripts.map(async (name) => {
          const content = await readFile(join(outDir, name));
          const sha256 = createHash("sha256").update(content).digest("hex");
          return { name, sha256, bytes: content.length };
        }),
      );
      const page = scripts.find((name) => name.startsWith("page-"));
      const list = { schema: 1, page, base: "/app/local/", files };
      await writeFile(join(outDir, "../../local-run.json"), `${JSON.stringify(list, null, 1)}\n`);
    },
  };
}

export default defineConfig({
  root: here("."),
  base: "./",
  publicDir: false,
  build: {
    outDir: here("../build/web/app/local"),
    emptyOutDir: true,
    target: TARGET,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: { input: { page: here("src/local/main.ts") }, output: names },
  },
  // A worker's file name begins with the name of its source file, because this name decides which
  // Content-Security-Policy the file is served with.
  worker: { format: "es", rolldownOptions: { output: names } },
  plugins: [listing(), precompress()],
});
