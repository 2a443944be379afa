// Configures the unit tests, which test pure logic under Node.

import { defineConfig } from "vitest/config";
import { TEST_LIMIT_MS } from "../worker-runtime/node/patience.ts";

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    include: ["src/**/*.test.ts"],
    environment: "node",
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
  },
});
