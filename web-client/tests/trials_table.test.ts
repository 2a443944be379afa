// Tests the trials table in a real browser: it draws few of many rows, sorts, filters, chooses columns, shows full numbers,
// and works by keyboard alone.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { en } from "../src/research/words/en.ts";
import { launch } from "./support/browser.ts";
import { violations } from "./support/checks.ts";
import { type StaticServer, serve } from "./support/static_server.ts";

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

async function withTable(
  story: string,
  use: (page: Page) => Promise<void>,
  size = { width: 1280, height: 844 },
): Promise<void> {
  const context = await browser.newContext({ viewport: size });
  try {
    const page = await context.newPage();
    await page.goto(`${server.origin}/research.html?story=${story}&lang=en`);
    await page.locator("[data-part-link=trials]").click();
    await page.locator("[data-trial]").first().waitFor();
    await use(page);
  } finally {
    await context.close();
  }
}

const numbers = (page: Page) =>
  page
    .locator("[data-trial]")
    .evaluateAll((rows) =>
      rows
        .sort((a, b) => Number(a.ariaRowIndex) - Number(b.ariaRowIndex))
        .map((row) => Number(row.getAttribute("data-trial"))),
    );
const cells = (page: Page, kind: string) =>
  page.locator(`[role=gridcell][data-kind=${kind}]`).allTextContents();
const matching = (page: Page) => page.locator("[data-matching]").getAttribute("data-matching");
const activeText = (page: Page) =>
  page.evaluate(() => {
    const id = document.activeElement?.getAttribute("aria-activedescendant") ?? "";
    return document.getElementById(id)?.textContent ?? null;
  });

describe("the trials table", () => {
  it("sorts by each column, both ways, and says so", async () => {
    await withTable("study_finished", async (page) => {
      const column = page.locator('[data-column="value:0"]');
      await column.click();
      const values = (await cells(page, "value")).map(Number);
      expect(values).toHaveLength(16);
      expect(values).toEqual([...values].sort((a, b) => a - b));
      const head = page.locator("[role=columnheader]", { has: column });
      expect(await head.getAttribute("aria-sort")).toBe("ascending");
      await column.click();
      expect((await cells(page, "value")).map(Number)).toEqual([...values].reverse());
      expect(await head.getAttribute("aria-sort")).toBe("descending");
      for (const key of await page
        .locator("[data-column]")
        .evaluateAll((all) => all.map((one) => one.getAttribute("data-column")))) {
        await page.locator(`[data-column="${key}"]`).click();
        expect(await numbers(page)).toHaveLength(16);
      }
    });
  });

  it("shows one state alone, and those that an expression chooses", async () => {
    await withTable("study_running", async (page) => {
      expect(await matching(page)).toBe("44");
      await page.locator("[data-action=filter]").selectOption("failed");
      await expect.poll(() => cells(page, "state")).toEqual(["Failed", "Failed"]);
      await page.locator("[data-action=filter]").selectOption("cancelled");
      await page.getByText(en.table.emptyFilter).waitFor();
      await page.locator("[data-action=filter]").selectOption("all");
      const field = page.locator("[data-action=expression]");
      await field.fill('lr == 0.1 and optimizer == "Adam" and trial < 12');
      await expect.poll(() => numbers(page)).toEqual([0, 2, 10]);
      // While an expression is typed the last one that was understood holds, and nothing is complained about.
      await field.fill("trial < 5 and lrate");
      expect(await numbers(page)).toEqual([0, 2, 10]);
      expect(await page.locator("#expression-problem").isVisible()).toBe(false);
      await field.press("Enter");
      const problem = page.locator("[data-problem=unknown_name]");
      await problem.waitFor();
      expect(await problem.textContent()).toContain(en.table.problems.unknown_name("lrate"));
      expect(await field.getAttribute("aria-describedby")).toBe("expression-problem");
      expect(await violations(page)).toEqual([]);
      await field.fill("");
      await expect.poll(() => matching(page)).toBe("44");
    });
  });

  it("draws a few of 10,000 rows, the right ones wherever it is scrolled", async () => {
    await withTable("study_many", async (page) => {
      await expect.poll(() => matching(page)).toBe("10000");
      expect(await page.locator("[role=grid]").getAttribute("aria-rowcount")).toBe("10001");
      const frame = page.locator("[role=grid]");
      for (const row of [0, 5_000, 9_999]) {
        await frame.evaluate((element, at) => {
          element.scrollTop = at * 44;
        }, row);
        await page.locator(`[data-trial='${row}']`).waitFor();
        expect((await numbers(page)).length).toBeLessThan(40);
      }
      await page.locator('[data-column="trial"]').click();
      await expect.poll(async () => (await numbers(page)).at(-1)).toBe(0);
      const screens = await page.evaluate(
        () => document.documentElement.scrollHeight / innerHeight,
      );
      expect(screens).toBeLessThan(12);
    });
  });

  it("keeps a page of 10,000 trials below twelve screens of a phone", async () => {
    const phone = { width: 390, height: 844 };
    await withTable(
      "study_many",
      async (page) => {
        await expect.poll(() => matching(page)).toBe("10000");
        const screens = await page.evaluate(
          () => document.documentElement.scrollHeight / innerHeight,
        );
        expect(screens).toBeLessThan(12);
      },
      phone,
    );
  });

  it("works by keyboard alone: cells, full numbers, sorting, a trial", async () => {
    await withTable("study_running", async (page) => {
      await page.locator("[role=grid]").focus();
      expect(await activeText(page)).toBe("0");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowDown");
      const short = await activeText(page);
      const full = await page.locator("[data-full]").textContent();
      expect(short?.length).toBeLessThan(full?.length ?? 0);
      expect(Number(full).toPrecision(4)).toBe(Number(short).toPrecision(4));
      await page.keyboard.press("Control+End");
      await page.locator("[data-trial='43']").waitFor();
      expect(await activeText(page)).not.toBeNull();
      // The wheel moves the rows away from the active cell, which stays known.
      await page.locator("[role=grid]").evaluate((element) => {
        element.scrollTop = 0;
      });
      await page.locator("[data-trial='0']").waitFor();
      expect(await activeText(page)).not.toBeNull();
      await page.keyboard.press("Control+Home");
      await page.keyboard.press("ArrowUp");
      expect(await activeText(page)).toBe(en.table.columns.trial);
      await page.keyboard.press("Enter");
      await expect.poll(async () => (await numbers(page))[0]).toBe(43);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.locator("[data-view=trial]").waitFor();
      expect(page.url()).toContain("#/studies/7/trials/43");
    });
  });

  it("shows the columns that the reader chooses, a dozen parameters at first", async () => {
    await withTable("study_wide", async (page) => {
      expect(await page.locator("[data-column^='param:']").count()).toBe(12);
      await page.locator("[data-part=columns] summary").click();
      await page.locator("[data-show='param:layer.299.dropout']").check();
      await page.locator("[data-show='device']").uncheck();
      expect(await page.locator("[data-column='param:layer.299.dropout']").count()).toBe(1);
      expect(await page.locator("[data-column='device']").count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await page.locator("[data-action=all_columns]").click();
      await expect.poll(() => page.locator("[data-column^='param:']").count()).toBe(300);
      await page.locator("[data-action=first_columns]").click();
      await expect.poll(() => page.locator("[data-column^='param:']").count()).toBe(12);
    });
  });

  it("copies a full number, or says how to", async () => {
    await withTable("study_one", async (page) => {
      await page.locator("[role=gridcell][data-kind=value]").first().click();
      const full = await page.locator("[data-full]").textContent();
      expect(full).toMatch(/^\d+\.\d{10,}$/);
      await page.evaluate(() => {
        const kept = globalThis as unknown as { copied: string };
        Object.defineProperty(navigator, "clipboard", {
          value: {
            writeText: async (text: string) => {
              kept.copied = text;
            },
          },
        });
      });
      await page.locator("[data-action=copy_cell]").click();
      await page.getByText(en.table.copied, { exact: true }).waitFor();
      const copied = () =>
        page.evaluate(() => (globalThis as unknown as { copied: string }).copied);
      expect(await copied()).toBe(full);
    });
  });
});
