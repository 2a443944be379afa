import { defineConfig } from "vitest/config";
import { TEST_LIMIT_MS } from "./node/patience.ts";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts"],
    environment: "node",
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
  },
});
