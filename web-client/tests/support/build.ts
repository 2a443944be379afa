// Sets up Vitest: builds the pages and the stories once, into folders of the tests, so that a test run does not disturb
// a server that serves `build/web`. Runs in Node.

import { fileURLToPath } from "node:url";
import { build } from "vite";
import type { TestProject } from "vitest/node";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

declare module "vitest" {
  interface ProvidedContext {
    pagesFolder: string;
    consoleFolder: string;
    storiesFolder: string;
  }
}

export async function setup(project: TestProject): Promise<void> {
  const folders = [
    ["pagesFolder", "../../vite.config.ts", "../../../build/test-web"],
    ["consoleFolder", "../../vite.research.config.ts", "../../../build/test-web/console"],
    ["storiesFolder", "../../src/stories/vite.config.ts", "../../../build/test-stories"],
  ] as const;
  for (const [name, configFile, outDir] of folders) {
    await build({
      configFile: here(configFile),
      logLevel: "warn",
      build: { outDir: here(outDir), emptyOutDir: true },
    });
    project.provide(name, here(outDir));
  }
}
