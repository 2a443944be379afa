// Tests every state of the join page in a real browser: it fits narrow and wide screens, has no accessibility violation
// in light and dark mode, and works by keyboard alone.

import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { en } from "../src/i18n/en.ts";
import { enPassphrase } from "../src/i18n/passphrase/en.ts";
import { OTHER_PROJECT, STORY_CODE, stories } from "../src/stories/states.ts";
import { launch } from "./support/browser.ts";
import {
  overflow,
  problemsAtEachWidth,
  VOLUNTEER_LANGUAGES,
  violations,
} from "./support/checks.ts";
import { type StaticServer, serve } from "./support/static_server.ts";
import { describeStories } from "./support/stories.ts";

const TOUCH_PX = 48;

let server: StaticServer;
let browser: Browser;

beforeAll(async () => {
  server = await serve(inject("storiesFolder"));
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function show(page: Page, story: string, language: string): Promise<void> {
  await page.goto(`${server.origin}/?story=${story}&lang=${language}`);
  const settled =
    story === "project_loading"
      ? "[data-phase=project_loading]"
      : "[data-phase]:not([data-phase=project_loading])";
  await page.locator(settled).waitFor();
}

describeStories({
  names: Object.keys(stories),
  browser: () => browser,
  languages: VOLUNTEER_LANGUAGES,
  touchPx: TOUCH_PX,
  show: async (page, name, language) => {
    await show(page, name, language);
    for (const folded of await page.locator("summary").all()) await folded.click();
    await page.locator("[data-passphrase-view]:not([data-passphrase-view=working])").waitFor();
  },
});

it("the test of overflow notices an element that is too wide", async () => {
  const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
  await show(page, "idle", "en");
  await page.evaluate(() => {
    document.querySelector("h1")?.style.setProperty("width", "400px");
  });
  expect(await overflow(page)).toContain("H1.null");
  await page.close();
});

it("the test of accessibility notices pale words and a bar without a name", async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await show(page, "loading", "en");
  await page.evaluate(() => {
    document.querySelector<HTMLElement>(".panel-text")?.style.setProperty("color", "#bbb");
    document.querySelector("[role=progressbar]")?.removeAttribute("aria-label");
  });
  const found = (await violations(page)).join("\n");
  expect(found).toContain("color-contrast .panel-text");
  expect(found).toContain("aria-progressbar-name");
  await page.close();
});

it("works by keyboard alone, and the focus is never lost", async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await show(page, "idle", "en");
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("data-action") ?? element?.id ?? element?.tagName;
    });
  const ring = () =>
    page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle);

  await page.keyboard.press("Tab");
  await expect.poll(async () => [await focused(), await ring()]).toEqual(["language", "solid"]);
  for (const [key, label] of [
    ["End", "开始"],
    ["ArrowUp", "開始"],
    ["Home", "Start"],
  ] as const) {
    await page.keyboard.press(key);
    await expect.poll(() => page.locator("[data-action=start]").textContent()).toBe(label);
  }

  await page.keyboard.press("Tab");
  await expect.poll(async () => [await focused(), await ring()]).toEqual(["start", "solid"]);
  await page.keyboard.press("Enter");
  await page.locator("[data-phase=joining]").waitFor();
  await expect.poll(focused).toBe("state");

  await page.keyboard.press("Tab");
  await expect.poll(focused).toBe("stop");
  await page.keyboard.press("Space");
  await page.locator("[data-phase=stopped]").waitFor();
  await expect.poll(focused).toBe("state");
  await page.keyboard.press("Tab");
  await expect.poll(focused).toBe("start");
  await page.close();
});

it("words are kept and entered by keyboard alone, and the focus is never lost", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  const page = await browser.newPage({ viewport: { width: 320, height: 640 }, permissions });
  await show(page, "passphrase_words", "en");
  await page.locator(".passphrase summary").focus();
  await page.keyboard.press("Enter");
  const focused = () =>
    page.evaluate(
      () =>
        document.activeElement?.getAttribute("data-action") ?? document.activeElement?.className,
    );
  const view = (kind: string) => page.locator(`[data-passphrase-view=${kind}]`).waitFor();
  await view("words");
  await expect.poll(() => page.locator(".passphrase-words li").count()).toBe(8);
  await page.keyboard.press("Tab");
  await expect.poll(focused).toBe("passphrase_copy");
  await page.keyboard.press("Enter");
  await page.locator(".passphrase [role=status]", { hasText: enPassphrase.copied }).waitFor();
  const words = await page.locator(".passphrase-words li").allTextContents();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(words.join(" "));
  await page.keyboard.press("Tab");
  await expect.poll(focused).toBe("passphrase_done");
  await page.keyboard.press("Enter");
  await view("closed");
  await expect.poll(focused).toBe("passphrase-content");
  for (const action of ["passphrase_make", "passphrase_enter"]) {
    await page.keyboard.press("Tab");
    await expect.poll(focused).toBe(action);
  }
  await page.keyboard.press("Space");
  await view("entry");
  await page.keyboard.press("Tab");
  await page.keyboard.type("correct horse battery");
  await page.keyboard.press("Tab");
  await expect.poll(focused).toBe("passphrase_confirm");
  await page.keyboard.press("Enter");
  await page.locator("#passphrase-hint", { hasText: "horse" }).waitFor();
  expect(await page.locator("[name=passphrase]").getAttribute("aria-invalid")).toBe("true");
  // What was entered is still there, to be mended.
  expect(await page.locator("[name=passphrase]").inputValue()).toBe("correct horse battery");
  await page.close();
});

describe.each(VOLUNTEER_LANGUAGES)("forgetting this device in %s", (language) => {
  it("asks once more, keeps the focus, and fits every width", async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await show(page, "stopped", language);
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement;
        return element?.getAttribute("data-action") ?? element?.className ?? null;
      });
    await page.locator(".privacy:not(.passphrase) summary").click();
    await page.locator("[data-action=forget_ask]").press("Enter");
    await expect.poll(focused).toBe("forget-question");
    expect(await problemsAtEachWidth(page, TOUCH_PX)).toEqual([]);
    await page.locator("[data-action=forget_cancel]").press("Enter");
    await expect.poll(focused).toBe("forget_ask");
    await page.keyboard.press("Enter");
    // This waits until the question has the focus, because an earlier key press would be lost.
    await expect.poll(focused).toBe("forget-question");
    await page.locator("[data-action=forget]").press("Enter");
    await page.locator("[data-phase=forgetting]").waitFor();
    expect(await page.locator("[data-action=forget_ask]").count()).toBe(0);
    await page.close();
  });
});

it("pauses, resumes and switches the last trial by keyboard, with the focus kept", async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await show(page, "computing", "en");
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("data-action") ?? element?.id ?? element?.tagName;
    });
  const finish = page.locator("[data-action=finish]");
  expect(await finish.getAttribute("aria-pressed")).toBe("false");
  await finish.focus();
  await page.keyboard.press("Space");
  await expect.poll(() => finish.getAttribute("aria-pressed")).toBe("true");
  expect(await focused()).toBe("finish");
  await page.locator(".panel-advice", { hasText: en.states.finishing }).waitFor();
  await page.keyboard.press("Shift+Tab");
  await expect.poll(focused).toBe("pause");
  await page.keyboard.press("Enter");
  await page.locator("[data-phase=paused]").waitFor();
  await expect.poll(focused).toBe("state");
  await page.keyboard.press("Tab");
  await expect.poll(focused).toBe("resume");
  await page.keyboard.press("Enter");
  await page.locator("[data-phase=joining]").waitFor();
  await page.close();
});

describe.each(VOLUNTEER_LANGUAGES)("on a small phone in %s", (language) => {
  it.each([
    [320, 568],
    [360, 640],
    [640, 320],
  ])("Start is in sight at %i x %i without scrolling", async (width, height) => {
    const page = await browser.newPage({ viewport: { width, height } });
    for (const story of ["idle", "idle_long", "choices", "welcome_back", "welcome_back_long"]) {
      await show(page, story, language);
      const start = await page.locator("[data-action=start]").boundingBox();
      const bottom = (start?.y ?? 0) + (start?.height ?? 0);
      expect(bottom, story).toBeGreaterThan(0);
      expect(bottom, story).toBeLessThanOrEqual(height);
      // Nothing ends behind the button: the last line can be scrolled above it.
      const last = await page.evaluate(() => {
        scrollTo(0, document.documentElement.scrollHeight);
        return document.querySelector(".colophon")?.getBoundingClientRect().bottom ?? 0;
      });
      expect(last, story).toBeLessThanOrEqual(start?.y ?? 0);
    }
    await page.close();
  });
});

describe.each(VOLUNTEER_LANGUAGES)("the night clock in %s", (language) => {
  it("covers the page, is accessible, ends by a tap and by Escape, and gives the focus back", async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await show(page, "computing", language);
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute("data-action") ?? null);
    const begin = page.locator("[data-action=night]");
    const clock = page.locator(".night");
    await begin.press("Enter");
    await page.locator(".night-time", { hasText: "41" }).waitFor();
    expect(await clock.boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 });
    expect(await problemsAtEachWidth(page, TOUCH_PX)).toEqual([]);
    await page.keyboard.press("Escape");
    await clock.waitFor({ state: "detached" });
    await expect.poll(focused).toBe("night");
    await begin.click();
    await page.locator("[data-action=night_end]").click();
    await clock.waitFor({ state: "detached" });
    await expect.poll(focused).toBe("night");
    await page.close();
  });
});

it("lets the keyboard choose among a link's projects", async () => {
  const page = await browser.newPage();
  await show(page, "choices", "en");
  await page.locator("input[type=radio]").nth(1).waitFor();
  await page.locator("input[type=radio]").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.locator("h1", { hasText: OTHER_PROJECT.name }).waitFor();
  expect(await page.locator("input[type=radio]").nth(1).isChecked()).toBe(true);
  await page.locator("[data-action=start]").click();
  await page.locator("[data-phase=joining]").waitFor();
  expect(await page.locator("input[type=radio]").count()).toBe(0);
  await page.close();
});

it("leads out of LINE by a link that keeps the code, and lets who wants stay", async () => {
  const page = await browser.newPage();
  await show(page, "in_app_line", "en");
  const link = await page.locator("[data-action=open_outside]").getAttribute("href");
  expect(link).toBe(`${server.origin}/join?openExternalBrowser=1#${STORY_CODE}`);
  await page.locator("[data-action=stay]").click();
  await page.locator("[data-phase=idle]").waitFor();
  expect(await page.locator("[data-action=start]").count()).toBe(1);
  await page.close();
});

it("announces a change of state, in a region that was there before", async () => {
  const page = await browser.newPage();
  await show(page, "idle", "en");
  const region = page.locator("[data-announcement]");
  expect(await region.getAttribute("aria-live")).toBe("polite");
  expect(await region.textContent()).toBe("");
  await page.locator("[data-action=start]").click();
  await expect.poll(() => region.textContent()).toMatch(/^Joining /);
  await page.close();
});

it("moves nothing where motion is unwanted, and something elsewhere", async () => {
  const moving = async (reducedMotion: "reduce" | "no-preference") => {
    const context = await browser.newContext({ reducedMotion });
    const page = await context.newPage();
    let count = 0;
    for (const story of ["computing", "joining", "loading_unknown"]) {
      await show(page, story, "en");
      count += await page.evaluate(() => document.getAnimations().length);
    }
    await context.close();
    return count;
  };
  expect(await moving("reduce")).toBe(0);
  expect(await moving("no-preference")).toBeGreaterThan(4);
});

it("copies the join link for another browser", async () => {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  await show(page, "not_isolated", "en");
  await page.locator("[data-action=copy_link]").click();
  await page.locator(".copy-outcome", { hasText: "Link copied" }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(`${server.origin}/join#${STORY_CODE}`);
  await context.close();
});

describe.each(VOLUNTEER_LANGUAGES)("the card to share in %s", (language) => {
  it.each(["given", "given_to_two", "given_awkward"])("%s is a picture", async (story) => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await show(page, story, language);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("[data-action=share_card]").click(),
    ]);
    expect(download.suggestedFilename()).toBe("hyperflock.png");
    const png = await readFile(await download.path());
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1_200, 630]);
    // No chunk has room for a text, a place or a time.
    expect(chunksOf(png).filter((chunk) => /^(tEXt|zTXt|iTXt|eXIf|tIME)$/.test(chunk))).toEqual([]);
    await page.locator(".card-offer [role=status]:not(:empty)").waitFor();
    await page.close();
  });
});

/** Returns the types of the chunks of a PNG. */
function chunksOf(png: Buffer): string[] {
  const types: string[] = [];
  for (let at = 8; at + 8 <= png.length; at += 12 + png.readUInt32BE(at)) {
    types.push(png.toString("latin1", at + 4, at + 8));
  }
  return types;
}
