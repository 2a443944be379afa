// Tests that every story of every page must pass: it fits all widths, is accessible, declares its language and logs no
// error.

import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  accessibilityWidths,
  LANGUAGES,
  type Language,
  open,
  problemsAtEachWidth,
} from "./checks.ts";

export interface StoryTests {
  readonly names: readonly string[];
  readonly browser: () => Browser;
  /** English and Japanese if nothing is given. */
  readonly languages?: readonly Language[];
  /** The smallest size of a control that is tapped, in CSS pixels. */
  readonly touchPx: number;
  /** Opens a story. Resolves when the page no longer changes. */
  readonly show: (page: Page, name: string, language: Language) => Promise<void>;
  /** Further tests in each language, on the same page. */
  readonly more?: (language: Language, page: () => Page) => void;
}

export function describeStories({
  names,
  browser,
  languages = LANGUAGES,
  touchPx,
  show,
  more,
}: StoryTests): void {
  describe.each(languages)("in %s", (language) => {
    let context: BrowserContext;
    let page: Page;
    let errors: string[];

    beforeAll(async () => {
      context = await browser().newContext({ reducedMotion: "reduce" });
      ({ page, errors } = await open(context));
    });

    afterAll(async () => {
      await context?.close();
    });

    it.each(names)("%s fits every width and is accessible", async (name) => {
      errors.length = 0;
      await show(page, name, language);
      expect(await problemsAtEachWidth(page, touchPx, accessibilityWidths(language))).toEqual([]);
      expect(await page.locator("html").getAttribute("lang")).toBe(
        language === "zh" ? "zh-Hans" : language,
      );
      expect(errors).toEqual([]);
    });

    more?.(language, () => page);
  });
}
