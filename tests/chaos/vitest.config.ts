import { defineConfig } from "vitest/config";
import { TEST_LIMIT_MS } from "../../worker-runtime/node/patience.ts";

export default defineConfig({
  test: {
    include: ["*.test.ts"],
    // The files share one browser, so the schedules run one after another.
    fileParallelism: false,
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
    reporters: ["verbose"],
  },
});
