// Tests the self-test page: every state fits the screen and is accessible. The built page examines the browser without
// a tap, and sends nothing to the server before a tap.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { checkNames } from "../src/selftest/finding.ts";
import { selfTestStories } from "../src/stories/selftest_states.ts";
import { launch } from "./support/browser.ts";
import { open, VOLUNTEER_LANGUAGES } from "./support/checks.ts";
import { GOOD_CODE, type StaticServer, serve } from "./support/static_server.ts";
import { describeStories } from "./support/stories.ts";

const TOUCH_PX = 48;

let stories: StaticServer;
let pages: StaticServer;
let browser: Browser;

beforeAll(async () => {
  stories = await serve(inject("storiesFolder"));
  pages = await serve(inject("pagesFolder"));
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await stories?.close();
  await pages?.close();
});

describeStories({
  names: Object.keys(selfTestStories),
  browser: () => browser,
  languages: VOLUNTEER_LANGUAGES,
  touchPx: TOUCH_PX,
  show: async (page, name, language) => {
    await page.goto(`${stories.origin}/selftest.html?story=${name}&lang=${language}`);
    await page.locator("[data-verdict]").waitFor();
  },
});

it("looks at this browser, and tells the server nothing", async () => {
  const context = await browser.newContext({ locale: "en-GB" });
  const { page, errors } = await open(context);
  pages.log.length = 0;
  await page.goto(`${pages.origin}/selftest#${GOOD_CODE}`);
  await page.locator("[data-looked=true]").waitFor();
  expect(page.url()).toBe(`${pages.origin}/selftest`);
  const states = await page
    .locator("[data-check]")
    .evaluateAll((rows) => rows.map((row) => [row.dataset.check, row.dataset.state]));
  const found = new Map(states as [string, string][]);
  expect([...found.keys()]).toEqual([...checkNames]);
  for (const name of ["isolation", "shared_memory", "wasm_simd", "array_memory", "web_locks"]) {
    expect([name, found.get(name)]).toEqual([name, "ok"]);
  }
  expect(found.get("numpy")).toBe("skipped");
  expect(await page.locator("[data-verdict]").getAttribute("data-verdict")).toBe("good");
  expect(pages.log.filter((line) => !line.startsWith("GET "))).toEqual([]);
  // On a machine without a graphics card, Chromium itself logs errors about it. They are left out.
  expect(errors.filter((error) => !/WebGL|GPU|No available adapters/.test(error))).toEqual([]);
  await context.close();
});

it("sends the table on a tap, once", async () => {
  const context = await browser.newContext({ locale: "en-GB" });
  const { page } = await open(context);
  const sent: unknown[] = [];
  await context.route("**/api/device-reports", async (route) => {
    sent.push(route.request().postDataJSON());
    await route.fulfill({ status: 201, json: { report: 7 } });
  });
  await page.goto(`${pages.origin}/selftest#${GOOD_CODE}`);
  await page.locator("[data-action=send_report]").click();
  await page.locator("[data-sending=sent]", { hasText: "report 7" }).waitFor();
  expect(await page.locator("[data-action=send_report]").count()).toBe(0);
  expect(sent).toMatchObject([{ code: GOOD_CODE, report: { class: "desktop" } }]);
  const [{ report }] = sent as [{ report: { checks: { name: string; state: string }[] } }];
  expect(report.checks.map(({ name }) => name)).toEqual([...checkNames]);
  expect(report.checks.at(-1)?.state).toBe("skipped");
  await context.close();
});
