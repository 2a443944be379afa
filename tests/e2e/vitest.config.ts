import { defineConfig } from "vitest/config";
import { TEST_LIMIT_MS } from "../../worker-runtime/node/patience.ts";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    // Each file starts a server and a browser. The files run one after another, because the volunteers of one file
    // already use two cores.
    fileParallelism: false,
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
    reporters: ["verbose"],
  },
});
