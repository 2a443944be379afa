import { defineConfig } from "vitest/config";
import { TEST_LIMIT_MS } from "../../worker-runtime/node/patience.ts";

export default defineConfig({
  test: {
    include: ["*.test.ts"],
    // One browser, and one schedule after the other.
    fileParallelism: false,
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
    reporters: ["verbose"],
  },
});
