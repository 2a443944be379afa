// Runs the cases that every executor must pass, in Chromium: issuer and gpu thread are real workers of an isolated
// page.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cases } from "./cases.fixture.ts";
import { openRingPage, type RingPage } from "./chromium.fixture.ts";

describe("in Chromium", () => {
  let page: RingPage;
  beforeAll(async () => {
    page = await openRingPage();
  }, 60_000);
  afterAll(async () => {
    await page?.close();
  });

  test.each(cases)(
    "$name",
    async ({ name, run: _, ...options }) => {
      const result = await page.run<{ shared_uploads: boolean; device: string[] }>(options, {
        kind: "case",
        name,
      });
      expect(result.device[0]).not.toBe("");
      expect(result.shared_uploads).toBe(true);
    },
    60_000,
  );
});
