// Configures component tests of the built stories and the built page in a real headless Chromium. Files run one at a
// time, because each launches a browser.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LIMIT_MS, TEST_LIMIT_MS } from "../../worker-runtime/node/patience.ts";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  test: {
    include: ["**/*.test.ts"],
    environment: "node",
    globalSetup: ["support/build.ts"],
    fileParallelism: false,
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
    expect: { poll: { timeout: LIMIT_MS } },
  },
});
