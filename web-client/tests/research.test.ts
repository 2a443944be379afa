// Tests every state of the researcher's page in a real browser: it fits narrow and wide screens, has no accessibility
// violation, and works by keyboard alone. Its buttons do what they should.

import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import decodeQR from "qr/decode.js";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { en } from "../src/research/words/en.ts";
import { researchStories } from "../src/stories/research_states.ts";
import { launch } from "./support/browser.ts";
import { problemsAtEachWidth, violations } from "./support/checks.ts";
import { type StaticServer, serve } from "./support/static_server.ts";
import { describeStories } from "./support/stories.ts";

const TOUCH_PX = 44;

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

let shown = 0;

async function show(page: Page, story: string, language = "en"): Promise<void> {
  // Each URL is new, because a URL that differs only in its fragment would not load the page again.
  shown += 1;
  const url = `${server.origin}/research.html?story=${story}&lang=${language}&shown=${shown}`;
  await page.goto(url);
  await page.locator("[data-view]").waitFor();
  await page.locator("[data-loading]").waitFor({ state: "detached" });
}

async function withPage(use: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 844 } });
  try {
    await use(await context.newPage());
  } finally {
    await context.close();
  }
}

describeStories({
  names: Object.keys(researchStories),
  browser: () => browser,
  touchPx: TOUCH_PX,
  show,
  more: (language, pageOf) => {
    it("shows the join link as text and as a QR code that reads the same", async () => {
      const page = pageOf();
      await show(page, "studies", language);
      await page.locator("[data-action=make_link]").click();
      const qr = page.locator(".qr");
      await qr.waitFor();
      expect(await problemsAtEachWidth(page, TOUCH_PX)).toEqual([]);
      const shown = await page.locator(".copy-field").inputValue();
      const drawn = await qr.evaluate((svg) => {
        const size = (svg as SVGSVGElement).viewBox.baseVal.width;
        const path = svg.querySelector(".qr-ink")?.getAttribute("d") ?? "";
        return { size, dark: [...path.matchAll(/M(\d+) (\d+)/g)].map(([, x, y]) => [x, y]) };
      });
      const side = drawn.size * 8;
      const data = new Uint8ClampedArray(side * side * 4).fill(255);
      for (const [x, y] of drawn.dark) {
        for (let row = 0; row < 8; row += 1) {
          const at = ((Number(y) * 8 + row) * side + Number(x) * 8) * 4;
          data.fill(0, at, at + 32);
        }
      }
      expect(decodeQR({ width: side, height: side, data })).toBe(shown);
    });

    it("asks before it cancels, in words that fit", async () => {
      const page = pageOf();
      await page.setViewportSize({ width: 320, height: 844 });
      await show(page, "study_running", language);
      await page.locator("[data-action=cancel]").click();
      await page.locator("dialog[open]").waitFor();
      expect(await violations(page)).toEqual([]);
      await page.locator("[data-action=cancel_no]").click();
      expect(await page.locator("[data-study-state=running]").count()).toBe(1);
      await page.locator("[data-action=cancel]").click();
      await page.locator("[data-action=cancel_yes]").click();
      await page.locator("[data-study-state=cancelled]").waitFor();
      expect(await page.locator("[data-action=cancel]").count()).toBe(0);
    });

    it("says what goes before it deletes a study, and that it went", async () => {
      const page = pageOf();
      await show(page, "study_finished", language);
      await page.locator("[data-action=remove]").focus();
      await page.keyboard.press("Enter");
      await page.locator("dialog[open]").waitFor();
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 844 });
        expect(await violations(page)).toEqual([]);
        const wide = await page.evaluate(() => {
          const dialog = document.querySelector("dialog[open]");
          return (dialog?.scrollWidth ?? 0) - (dialog?.clientWidth ?? 0);
        });
        expect(wide).toBeLessThanOrEqual(0);
      }
      await page.keyboard.press("Escape");
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-action")))
        .toBe("remove");
      expect(await page.locator("[data-study-state=finished]").count()).toBe(1);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab"); // moves past the button that keeps the study
      await page.keyboard.press("Enter");
      await page.locator("[data-removed]").waitFor();
      expect(await page.locator("[data-study='5']").count()).toBe(0);
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
      const told = (await page.locator("[data-removed]").textContent()) ?? "none";
      expect(told).toContain("digits, first round");
      await expect.poll(() => page.locator("[data-announcement]").textContent()).toBe(told);
      expect(await problemsAtEachWidth(page, TOUCH_PX)).toEqual([]);
    });
  },
});

it("a study that waits for others says so", async () => {
  await withPage(async (page) => {
    await show(page, "study_waits");
    expect(await page.locator("[data-waits]").textContent()).toBe(
      en.study.waits.others_first("2", "100", "400"),
    );
  });
});

it("a rejected attempt says who rejected it and why, and cannot be rejected again", async () => {
  await withPage(async (page) => {
    await show(page, "trial_rejected");
    const told = (await page.locator("[data-part=rejected]").textContent()) ?? "none";
    expect(told).toMatch(/^Rejected by researcher, .*: The value is invented\.$/);
    // The other attempt, and the trial, still can.
    expect(await page.locator("[data-action=reject_device]").count()).toBe(1);
    expect(await page.locator("[data-action=reject_trial]").count()).toBe(1);
  });
});

it("asks before it rejects a device that computes, and bans it only if the reader wants that", async () => {
  await withPage(async (page) => {
    await show(page, "study_running");
    await page.locator(".running [data-action=reject_device]").first().click();
    const dialog = page.locator("dialog[open]");
    expect(await dialog.locator("h2").textContent()).toBe(en.trial.rejectDeviceTitle);
    const ban = dialog.getByLabel(en.trial.rejectBan);
    expect(await ban.isChecked()).toBe(false);
    await ban.check();
    expect(await violations(page)).toEqual([]);
    await dialog.locator("[data-action=reject_device_yes]").click();
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
  });
});

it("leads from the table to each trial, and the heading takes the focus", async () => {
  await withPage(async (page) => {
    await show(page, "study_trials");
    await page.locator("[data-trial='9'] a").click();
    await page.locator("[data-view=trial]").waitFor();
    await page.locator(".chip[data-state=failed]").first().waitFor();
    expect(page.url()).toContain("#/studies/7/trials/9");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    expect(await page.locator(".traceback").first().textContent()).toContain("ValueError");
    await page.goBack();
    await page.locator("[data-view=study]").waitFor();
  });
});

describe("the views of a study", () => {
  it("have their own addresses, and the shown one is named", async () => {
    await withPage(async (page) => {
      await show(page, "study_front");
      const links = page.locator("[data-part-link]");
      expect(await links.allTextContents()).toEqual(Object.values(en.parts.names));
      for (const part of ["trials", "series", "front", "parallel", "slice", "overview"]) {
        await page.locator(`[data-part-link=${part}]`).click();
        await page.locator(`[data-part-link=${part}][aria-current=page]`).waitFor();
        const end = part === "overview" ? "#/studies/7" : `#/studies/7/${part}`;
        expect(page.url().endsWith(end), page.url()).toBe(true);
        await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
      }
      await page.goBack();
      await page.locator("[data-part=slice]").waitFor();
      await page.goBack();
      await page.locator("[data-part=parallel]").waitFor();
      expect(page.url().endsWith("#/studies/7/parallel"), page.url()).toBe(true);
    });
  });

  it("leave out what the study has nothing for", async () => {
    await withPage(async (page) => {
      await show(page, "study_one");
      expect(await page.locator("[data-part-link=front]").count()).toBe(0);
      expect(await page.locator("[data-part-link=series]").count()).toBe(0);
    });
  });

  it("name the best trials of several objectives, in a plot, a list and the table", async () => {
    await withPage(async (page) => {
      await show(page, "study_front");
      await page.locator("[data-best-trial]").first().waitFor();
      const named = await page
        .locator("[data-best-trial]")
        .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-best-trial"))));
      expect(named).toEqual(researchStories.study_front.rows.studies[0]?.best_trials);
      const dots = await page.locator(".plot-area [data-mark=best]").getAttribute("d");
      expect(dots?.split("M").length).toBe(named.length + 1);
      expect(await page.locator(".plot-area").getAttribute("data-dots")).toBe("38");
      await page.locator("[data-action=best_in_table]").click();
      await expect
        .poll(() => page.locator("[data-matching]").getAttribute("data-matching"))
        .toBe(String(named.length));
      expect(await page.locator("[data-action=expression]").inputValue()).toBe("best");
    });
  });

  it("show the pairs of many objectives, six of them at first", async () => {
    await withPage(async (page) => {
      await show(page, "study_front_of_five");
      await page.locator(".plot-area").first().waitFor();
      expect(await page.locator(".plot-area").count()).toBe(6);
      await page.locator("[data-action=all_pairs]").click();
      await expect.poll(() => page.locator(".plot-area").count()).toBe(10);
    });
  });

  it("open the trial of a dot that is pressed, and name it before", async () => {
    await withPage(async (page) => {
      await show(page, "study_front");
      const plot = page.locator(".plot-area");
      await plot.waitFor();
      const place = await plot.evaluate((svg) => {
        const path = svg.querySelector("[data-mark=other]")?.getAttribute("d") ?? "";
        const [, x, y] = /^M(\S+) (\S+)h0/.exec(path) ?? [];
        const box = svg.getBoundingClientRect();
        return { x: (Number(x) / 640) * box.width, y: (Number(y) / 300) * box.height };
      });
      await plot.hover({ position: place });
      await expect
        .poll(() => page.locator(".plot-near").textContent())
        .toMatch(/^Trial \d+: \S+, \S+$/);
      await plot.click({ position: place });
      await page.locator("[data-view=trial]").waitFor();
    });
  });
});

it("exports what it shows as CSV and JSON", async () => {
  await withPage(async (page) => {
    await show(page, "study_finished");
    await page.locator("[data-part-link=trials]").click();
    await page.locator("[data-trial]").first().waitFor();
    const read = async (action: string) => {
      const waiting = page.waitForEvent("download");
      await page.locator(`[data-action=${action}]`).click();
      const file = await waiting;
      return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
    };
    const csv = await read("csv");
    expect(csv.name).toBe("digits_first_round-5.csv");
    expect(csv.text.trimEnd().split("\r\n")).toHaveLength(17);
    const json = await read("json");
    expect(json.name).toBe("digits_first_round-5.json");
    expect((JSON.parse(json.text) as { trials: unknown[] }).trials).toHaveLength(16);
  });
});

it("works by keyboard alone, and the focus is seen", async () => {
  await withPage(async (page) => {
    await show(page, "sign_in");
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement;
        const ring = element === null ? "none" : getComputedStyle(element).outlineStyle;
        return [element?.getAttribute("data-action") ?? (element?.id || element?.tagName), ring];
      });
    await page.keyboard.press("Tab"); // moves past the link to the content
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await focused())[0]).toBe("H1");
    await page.keyboard.press("Tab");
    await expect.poll(focused).toEqual(["token", "solid"]);
    await page.keyboard.type("hfr_typed");
    await page.keyboard.press("Tab");
    await expect.poll(focused).toEqual(["sign_in", "solid"]);
    await page.keyboard.press("Enter");
    await page.locator("[data-view=studies]").waitFor();
    await expect.poll(async () => (await focused())[0]).toBe("H1");
    expect(page.url()).not.toContain("hfr_typed");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.locator("[data-view=study]").waitFor();
    await expect.poll(async () => (await focused())[0]).toBe("H1");
  });
});

it("announces a study's state, in a region that was there before", async () => {
  await withPage(async (page) => {
    await show(page, "study_running");
    const region = page.locator("[data-announcement]");
    await expect.poll(() => region.textContent()).toBe("Study mnist-grid: Running");
    await page.locator("[data-action=cancel]").click();
    await page.locator("[data-action=cancel_yes]").click();
    await expect.poll(() => region.textContent()).toBe("Study mnist-grid: Cancelled");
  });
});

it("shows texts from phones as texts, and what hides in them", async () => {
  await withPage(async (page) => {
    await show(page, "study_awkward");
    await page.locator("[data-part-link=trials]").click();
    await page.locator("[data-trial]").first().waitFor();
    const words = await page.locator(".grid-rows").textContent();
    expect(words).toContain("=HYPERLINK(\ufffd)");
    expect(words).not.toContain("\u202e");
  });
});

describe("the administrators' view", () => {
  const focused = (page: Page) =>
    page.evaluate(() => document.activeElement?.getAttribute("data-action") ?? "");

  it("asks before it suspends, says what stops and for whom, and gives the focus back", async () => {
    await withPage(async (page) => {
      await show(page, "operate");
      const row = page.locator("[data-person='2']");
      await row.locator("[data-action=suspend]").focus();
      await page.keyboard.press("Enter");
      const dialog = page.locator("dialog[open]");
      await dialog.waitFor();
      expect(await dialog.textContent()).toContain(en.operate.ask.suspend.text("Aoki Lab", "3"));
      // A key that is held down must not confirm at once, so the title has the focus.
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H2");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await page.keyboard.type("mines coins");
      await page.keyboard.press("Escape");
      await expect.poll(() => focused(page)).toBe("suspend");
      expect(await dialog.count()).toBe(0);
      expect(await row.getAttribute("data-state")).toBe("active");

      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await expect.poll(() => page.locator("dialog[open] input").inputValue()).toBe("");
      await page.keyboard.type("mines coins");
      await page.keyboard.press("Tab");
      await expect.poll(() => focused(page)).toBe("suspend_no");
      await page.keyboard.press("Tab");
      await expect.poll(() => focused(page)).toBe("suspend_yes");
      await page.keyboard.press("Enter");
      await page.locator("[data-person='2'][data-state=suspended]").waitFor();
      expect(await row.textContent()).toContain(en.held.reason("mines coins"));
      await expect
        .poll(() => page.locator("[data-announcement]").textContent())
        .toBe(en.operate.done.suspended("Aoki Lab"));
      // The button is gone, so the heading of the table has the focus.
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.textContent))
        .toBe(en.operate.people.heading);

      // To let somebody back, nothing is asked.
      await row.locator("[data-action=let_in]").click();
      await page.locator("[data-person='2'][data-state=active]").waitFor();
      expect(await row.textContent()).not.toContain("mines coins");
    });
  });

  it("asks before it refuses, freezes and bars, and not before it lifts", async () => {
    await withPage(async (page) => {
      await show(page, "operate");
      const asked = async (action: string) => {
        await page.locator("dialog[open]").waitFor();
        const text = (await page.locator("dialog[open]").textContent()) ?? "";
        expect(await violations(page)).toEqual([]);
        await page.locator(`dialog[open] [data-action=${action}_yes]`).click();
        return text;
      };
      const { ask } = en.operate;

      await page.locator("[data-awaiting='7'] [data-action=refuse]").click();
      expect(await asked("refuse")).toContain(ask.refuse.text("mnist-grid", "Aoki Lab"));
      await page.getByText(en.operate.noneAwaiting).waitFor();

      await page.locator("[data-person='4'] [data-action=turn_down]").click();
      expect(await asked("turn_down")).toContain(ask.turnDown.text("heidi"));
      await page.locator("[data-person='4'][data-state=refused]").waitFor();

      const first = page.locator("[data-project='1']");
      await first.locator("[data-action=freeze]").click();
      expect(await asked("freeze")).toContain(ask.freeze.text("First project", "Aoki Lab, grace"));
      await first.locator("[data-action=unfreeze]").click();
      await first.locator("[data-action=freeze]").waitFor();

      const hash = "0b".repeat(32);
      await page.locator("#sha256").fill(` ${hash} `);
      await page.locator("#sha256").press("Enter");
      const text = await asked("bar");
      expect(text).toContain(ask.bar.text);
      expect(text).toContain(hash);
      await page.locator(`[data-barred='${hash}']`).waitFor();
      expect(await page.locator("#sha256").inputValue()).toBe("");
      await page.locator(`[data-barred='${hash}'] [data-action=lift]`).click();
      await expect.poll(() => page.locator(`[data-barred='${hash}']`).count()).toBe(0);
    });
  });

  it("bars nothing that is no hash, and nobody suspends themselves", async () => {
    await withPage(async (page) => {
      await show(page, "operate");
      await page.locator("#sha256").fill("0b");
      await page.locator("[data-action=bar]").click();
      expect(await page.locator("dialog[open]").count()).toBe(0);
      expect(await page.locator("[data-person='1']").textContent()).toContain("root");
      expect(await page.locator("[data-person='1'] [data-action=suspend]").count()).toBe(0);
    });
  });

  it("changes only the limits that were changed", async () => {
    await withPage(async (page) => {
      await show(page, "operate");
      const row = page.locator("[data-person='2']");
      await row.locator("[data-action=quota]").click();
      await page.locator("dialog[open] [name=studies]").fill("4");
      await page.locator("dialog[open] [data-action=quota_yes]").click();
      await expect.poll(() => row.locator("[data-kind=studies]").textContent()).toBe("3 / 4");
      expect(await row.locator("[data-kind=stored]").textContent()).toContain("9.91 GB / 10.7 GB");
      await expect
        .poll(() => page.locator("[data-announcement]").textContent())
        .toBe(en.operate.done.quotaSet("Aoki Lab"));
    });
  });

  it("finds and sorts people", async () => {
    await withPage(async (page) => {
      await show(page, "operate");
      const people = () =>
        page
          .locator("[data-person]")
          .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-person"))));
      expect(await people()).toEqual([4, 1, 2, 3, 5]);
      await page.locator("[data-column=stored]").click();
      expect((await people()).slice(0, 2)).toEqual([2, 3]);
      const head = page.locator("th", { has: page.locator("[data-column=stored]") });
      expect(await head.getAttribute("aria-sort")).toBe("descending");
      await page.locator("[data-action=find]").fill("I");
      await expect.poll(people).toEqual([2, 4, 5]);
      await page.locator("[data-action=people_state]").selectOption("pending");
      await expect.poll(people).toEqual([4]);
      await page.locator("[data-action=find]").fill("nobody");
      await page.getByText(en.operate.people.none).waitFor();
    });
  });

  it("keeps a refusal in view, however far below the button is", async () => {
    await withPage(async (page) => {
      await page.setViewportSize({ width: 390, height: 500 });
      await show(page, "operate_refused");
      await page.locator("[data-action=set_ceiling]").click();
      const bar = page.locator("[data-problem=unknown_project]");
      await bar.waitFor();
      const box = await bar.boundingBox();
      expect(box?.y).toBeGreaterThanOrEqual(0);
      expect(box?.y).toBeLessThan(500);
    });
  });

  it.each(["en", "ja"] as const)("asks in words that fit at every width: %s", async (language) => {
    await withPage(async (page) => {
      for (const [story, action] of [
        ["operate", "suspend"],
        ["operate", "quota"],
        ["operate_awkward", "freeze"],
        ["operate_awkward", "suspend"],
      ] as const) {
        await show(page, story, language);
        await page.locator(`[data-action=${action}]`).first().click();
        for (const width of [320, 1280]) {
          await page.setViewportSize({ width, height: 844 });
          const wide = await page.evaluate(() => {
            const dialog = document.querySelector("dialog[open]");
            return (dialog?.scrollWidth ?? 0) - (dialog?.clientWidth ?? 0);
          });
          expect(wide, `${story} ${action} ${width}`).toBeLessThanOrEqual(0);
        }
        expect(await violations(page)).toEqual([]);
      }
    });
  });
});
