// Runs the cases that every executor must pass by WebGL2 in Chromium: issuer and gpu thread are real workers of an
// isolated page.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cases } from "./cases.fixture.ts";
import { openRingPage, type RingPage } from "./chromium.fixture.ts";

describe("by WebGL2 in Chromium", () => {
  let page: RingPage;
  beforeAll(async () => {
    page = await openRingPage("webgl2");
  });
  afterAll(async () => {
    await page?.close();
  });

  test.each(cases)("$name", async ({ name, run: _, ...options }) => {
    const result = await page.run<{ shared_uploads: boolean; device: string[] }>(
      { ...options, webgl2: true },
      { kind: "case", name },
    );
    expect(result.device[1]).toBe("webgl2");
    expect(result.shared_uploads).toBe(true);
  });
});
