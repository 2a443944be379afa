// Builds the researcher's page into a folder of its own, `build/web/console`, because another origin serves it. Neither
// origin has the other's files. Runs after vite.config.ts, which empties `build/web`.

import { defineConfig } from "vite";
import { buildOf } from "./vite.pages.ts";

export default defineConfig(buildOf(["research"], "build/web/console"));
