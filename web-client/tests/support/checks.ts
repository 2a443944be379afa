// Checks that every page must pass in a real browser: it throws no error, fits its window, has controls that a finger
// can hit, and has no accessibility violation. Runs in Node.

import axe from "axe-core";
import type { BrowserContext, Page } from "playwright-core";
import { AXE_PATH } from "./static_server.ts";

const WIDTHS = [320, 390, 1280] as const;
export const LANGUAGES = ["en", "ja"] as const;
/** The languages of the pages that volunteers open. */
export const VOLUNTEER_LANGUAGES = ["en", "es", "ja", "zh"] as const;
export type Language = (typeof VOLUNTEER_LANGUAGES)[number];

/**
 * Returns the widths at which axe checks a story. These checks take most of the tests' time. Colours and structure
 * hardly depend on the language, so few widths in English and Japanese suffice. `./run test --whole` checks every width
 * in every language.
 */
export function accessibilityWidths(language: Language): readonly number[] {
  if (process.env.HYPERFLOCK_WHOLE) return WIDTHS;
  return { en: [390, 1280], ja: [320], es: [], zh: [] }[language];
}

/** Opens a page. `errors` collects its uncaught errors, and the warnings and errors in its console. */
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

/** Returns by how much the page or any element in it is wider than the window. */
export function overflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wide = document.documentElement.scrollWidth - innerWidth;
    const found = wide > 0 ? [`page by ${wide} px`] : [];
    for (const element of document.querySelectorAll("main *, header *, footer *")) {
      // An element that scrolls in its own frame may be wide, but the frame itself may not.
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
        // A tap on a radio button's label also reaches the button, so the label's size counts.
        const target = control.closest("label") ?? control;
        const { width, height } = target.getBoundingClientRect();
        return width < least || height < least;
      })
      .map((control) => control.textContent ?? control.tagName);
  }, leastPx);
}

export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) {
    // Compiling axe takes as long as one check. A script from a server is compiled only once, so axe comes from there.
    if (page.url().startsWith("http:")) await page.addScriptTag({ url: AXE_PATH });
    else await page.evaluate(axe.source);
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

/**
 * Returns the problems at each width, in light and dark mode: of the layout, of the size of controls, and, at some of the
 * widths, of accessibility.
 */
export async function problemsAtEachWidth(
  page: Page,
  leastPx: number,
  accessibleAt: readonly number[] = WIDTHS,
): Promise<string[]> {
  const problems: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    const colorScheme = width === 390 ? "dark" : "light";
    await page.emulateMedia({ colorScheme });
    const found = [
      ...(await overflow(page)).map((what) => `sticks out: ${what}`),
      ...(await smallTargets(page, leastPx)).map((what) => `small target: ${what}`),
      ...(accessibleAt.includes(width) ? await violations(page) : []),
    ];
    problems.push(...found.map((what) => `${width} px, ${colorScheme}: ${what}`));
  }
  return problems;
}
