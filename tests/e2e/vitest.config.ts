import { defineConfig } from "vitest/config";
import { TEST_LIMIT_MS } from "../../worker-runtime/node/patience.ts";

export default defineConfig({
  test: {
    include: ["*.test.ts"],
    // Each file starts a server and a browser. Files run one after another, because two volunteers fill two cores.
    fileParallelism: false,
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
    reporters: ["verbose"],
  },
});
