// Deletes each feature of the table (worker-runtime/src/platform/features.fixture.ts) in real Chromium, from the page and its
// threads or from its threads alone: the join page and the self-test page must come to the same end. A page whose script
// does not start must say so.

import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { FEATURES, type Feature } from "../../worker-runtime/src/platform/features.fixture.ts";
import { dictionaries } from "../src/i18n/dictionaries.ts";
import { launch } from "./support/browser.ts";
import { GOOD_CODE, type StaticServer, serve } from "./support/static_server.ts";

const IS_THREAD = /^\/app\/[\w-]+-thread-[\w-]+\.js$/;
/** The code of a volunteer who could compute: the server of these tests refuses all who join. */
const COMPUTES = "bad_enrolment_code";

let server: StaticServer;
let browser: Browser;
let context: BrowserContext;
/** The script that runs in each thread before its own. */
let inThreads = "";

beforeAll(async () => {
  server = await serve(inject("pagesFolder"), (name, content) =>
    IS_THREAD.test(name) ? `${inThreads}\n${content}` : content,
  );
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

afterEach(async () => {
  inThreads = "";
  await context?.close();
});

/** Opens the browser without a feature. `scopes` says who lacks it. */
async function openWithout(remove: string, scopes: "everywhere" | "threads"): Promise<Page> {
  // Each script has a scope of its own for its names.
  const script = `{${remove}}`;
  inThreads = script;
  context = await browser.newContext({ locale: "en-GB", viewport: { width: 390, height: 844 } });
  if (scopes === "everywhere") await context.addInitScript(script);
  return await context.newPage();
}

/** Returns the code that the join page ends with, before or after the tap, and the text of its panel. */
async function joinEnd(page: Page): Promise<{ readonly code: string; readonly text: string }> {
  await page.goto(`${server.origin}/join#${GOOD_CODE}`);
  const before = page.locator("[data-phase=idle], [data-phase=unsupported]");
  await before.waitFor();
  const start = page.locator("[data-action=start]");
  if ((await start.count()) > 0) await start.click();
  await page.locator("[data-phase=failed], [data-phase=unsupported]").waitFor();
  const text = (await page.locator(".panel").textContent()) ?? "";
  return { code: /Code: (\w+?)(?:Try|Copy|$|\W)/.exec(text)?.[1] ?? "", text };
}

async function selfTestEnd(page: Page): Promise<{ readonly code: string; readonly text: string }> {
  await page.goto(`${server.origin}/selftest`);
  await page.locator("[data-looked=true]").waitFor();
  const verdict = page.locator("[data-verdict]");
  return {
    code: (await verdict.getAttribute("data-verdict")) ?? "",
    text: (await verdict.textContent()) ?? "",
  };
}

const isRefusal = ({ without }: Feature) => without !== "goes on" && without !== "own function";
/** The page alone reads whether it is isolated and secure; its threads are like it. */
const OF_THE_PAGE = new Set(["not_isolated", "insecure_context"]);

const everywhere = FEATURES.map((feature) => [feature.name, "everywhere", feature] as const);
const threads = FEATURES.filter(
  (feature) => isRefusal(feature) && !OF_THE_PAGE.has(feature.without),
).map((feature) => [feature.name, "threads", feature] as const);

describe("without", () => {
  it.each([...everywhere, ...threads])("%s, %s", async (_name, scopes, feature) => {
    const page = await openWithout(feature.remove, scopes);
    if (scopes === "everywhere") {
      // A document of the same origin without scripts shows that the feature is gone.
      await page.goto(`${server.origin}/sw.js`);
      expect(await page.evaluate(`Boolean(${feature.present})`)).toBe(false);
    }
    const join = await joinEnd(page);
    const selfTest = await selfTestEnd(page);
    if (isRefusal(feature)) {
      const { reasons } = dictionaries.of("en").unsupported;
      const reason = feature.without as keyof typeof reasons;
      expect([join.code, selfTest.code]).toEqual([reason, reason]);
      for (const { text } of [join, selfTest]) {
        expect(text).toContain(reasons[reason]);
        expect(text).toContain(`Code: ${reason}`);
      }
    } else {
      expect([join.code, selfTest.code]).toEqual([COMPUTES, "good"]);
      const replaced = page.locator("[data-check=functions] .finding-detail");
      const isReplaced = feature.without === "own function";
      expect(await replaced.textContent()).toBe(isReplaced ? feature.name : "–");
    }
  });
});

describe("a page whose script does not start", () => {
  it.each(["join", "selftest"])("says so after a while: %s", async (name) => {
    context = await browser.newContext({ locale: "en-GB" });
    await context.route(`**/app/${name}-*.js`, (route) => route.abort());
    const page = await context.newPage();
    await page.goto(`${server.origin}/${name}`);
    const note = page.locator(".not-started");
    expect(await note.isVisible()).toBe(false);
    await note.evaluate((element) => {
      for (const animation of element.getAnimations()) animation.finish();
    });
    await note.waitFor();
    expect(await note.textContent()).toContain("page_not_started");
  });

  it("is no page that starts", async () => {
    context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.origin}/selftest`);
    await page.locator("[data-looked=true]").waitFor();
    expect(await page.locator(".not-started").count()).toBe(0);
  });
});
