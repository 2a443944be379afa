// What every page is held to in a real browser: it throws nothing, fits its window, can be hit with a finger, and has no
// accessibility violation. Runs in Node.

import axe from "axe-core";
import type { BrowserContext, Page } from "playwright-core";

const WIDTHS = [320, 390, 1280] as const;
export const LANGUAGES = ["en", "ja"] as const;

/** A page whose errors fail the test that uses it. */
export async function open(context: BrowserContext): Promise<{ page: Page; errors: string[] }> {
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      errors.push(message.text());
    }
  });
  return { page, errors };
}

/** Widths by which the page or any element in it sticks out of the window. */
export function overflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wide = document.documentElement.scrollWidth - innerWidth;
    const found = wide > 0 ? [`page by ${wide} px`] : [];
    for (const element of document.querySelectorAll("main *, header *, footer *")) {
      // What scrolls in a frame of its own may be wide; the frame may not.
      if (element.parentElement?.closest("[tabindex='0']") != null) {
        continue;
      }
      const box = element.getBoundingClientRect();
      if (box.right > innerWidth + 0.5 || box.left < -0.5) {
        found.push(`${element.tagName}.${element.getAttribute("class")}`);
      }
    }
    return found;
  });
}

export function smallTargets(page: Page, leastPx: number): Promise<string[]> {
  return page.evaluate((least) => {
    const controls = [...document.querySelectorAll("button, summary, input, select, a")];
    return controls
      .filter((control) => control.checkVisibility())
      .filter((control) => {
        // A tap on its label reaches a radio button too.
        const target = control.closest("label") ?? control;
        const { width, height } = target.getBoundingClientRect();
        return width < least || height < least;
      })
      .map((control) => control.textContent ?? control.tagName);
  }, leastPx);
}

export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) {
    await page.evaluate(axe.source);
  }
  const results = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
      resultTypes: ["violations"],
    }),
  );
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(" ")}: ${failureSummary}`),
  );
}

/** Fits, can be hit and has no violation at each width, in the light and in the dark. */
export async function problemsAtEachWidth(page: Page, leastPx: number): Promise<string[]> {
  const problems: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    const colorScheme = width === 390 ? "dark" : "light";
    await page.emulateMedia({ colorScheme });
    const found = [
      ...(await overflow(page)).map((what) => `sticks out: ${what}`),
      ...(await smallTargets(page, leastPx)).map((what) => `small target: ${what}`),
      ...(await violations(page)),
    ];
    problems.push(...found.map((what) => `${width} px, ${colorScheme}: ${what}`));
  }
  return problems;
}
