// Tests the plots of parameters in a real browser: a brush chooses trials, and the table and the slices show the same ones.

import { readFile } from "node:fs/promises";
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

async function withPlot(story: string, use: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  try {
    const page = await context.newPage();
    await page.goto(`${server.origin}/research.html?story=${story}&lang=en`);
    await page.locator("[data-matching], [data-plot]").first().waitFor();
    await use(page);
  } finally {
    await context.close();
  }
}

const matching = async (page: Page) =>
  Number(await page.locator("[data-matching]").getAttribute("data-matching"));

/** Drags along an axis. A place on it is from 0 (bottom) to 1 (top); the drag may end outside of the axis. */
async function brush(page: Page, key: string, from: number, to: number): Promise<void> {
  const grip = page.locator(`[data-grip="${key}"]`);
  await grip.scrollIntoViewIfNeeded();
  const box = await grip.boundingBox();
  if (box === null) throw new Error(`the axis ${key} is not shown`);
  // The grip is 8 pixels longer than the axis at each end.
  const y = (at: number) => box.y + 8 + (1 - at) * (box.height - 16);
  const x = box.x + box.width / 2;
  await page.mouse.move(x, y(from));
  await page.mouse.down();
  await page.mouse.move(x, y((from + to) / 2));
  await page.mouse.move(x, y(to));
  await page.mouse.up();
}

describe("parallel coordinates", () => {
  it("choose trials by a brush, for the table and the slices, until it is taken away", async () => {
    await withPlot("study_parallel", async (page) => {
      expect(await matching(page)).toBe(38);
      await brush(page, "param:optimizer", 0.4, -0.2);
      await page.locator('[data-brush="param:optimizer"]').waitFor();
      await expect.poll(() => matching(page)).toBe(19);
      await brush(page, "param:channels", 0.9, 1.2);
      const both = () => page.locator("[data-range]").allTextContents();
      await expect
        .poll(both)
        .toEqual([
          expect.stringContaining("channels: from "),
          expect.stringContaining("optimizer: Adam"),
        ]);
      const chosen = await matching(page);
      expect(chosen).toBeGreaterThan(0);
      expect(chosen).toBeLessThan(19);
      expect(await violations(page)).toEqual([]);

      await page.locator("[data-part-link=slice]").click();
      await page.locator("[data-part=slice] [data-matching]").waitFor();
      expect(await matching(page)).toBe(chosen);
      await page.locator("[data-part-link=trials]").click();
      await page.locator("[role=grid]").waitFor();
      const optimizers = await page
        .locator("[role=gridcell][data-kind=param]")
        .filter({ hasText: /Adam|SGD/ })
        .allTextContents();
      expect(new Set(optimizers)).toEqual(new Set(["Adam"]));

      await page.locator("[data-range='param:channels'] button").click();
      await page.locator("[data-part-link=parallel]").click();
      await expect.poll(() => matching(page)).toBe(19);
      // A press on an axis takes its range away.
      await brush(page, "param:optimizer", 0.5, 0.5);
      await expect.poll(() => matching(page)).toBe(38);
    });
  });

  it("choose the same by keyboard alone", async () => {
    await withPlot("study_parallel", async (page) => {
      await page.locator("[data-part=range_fields] summary").focus();
      await page.keyboard.press("Enter");
      const field = page.locator("[data-range-of='param:lr'] [data-end=most]");
      await field.focus();
      await page.keyboard.type("0.01");
      await page.keyboard.press("Tab");
      await expect.poll(() => page.locator("[data-range]").textContent()).toContain("up to 0.01");
      await page.locator('[data-brush="param:lr"]').waitFor();
      const below = await matching(page);
      expect(below).toBeLessThan(38);
      await page.locator("[data-range-of='param:optimizer'] input").first().focus();
      await page.keyboard.press("Space");
      await expect.poll(() => matching(page)).toBeLessThan(below);
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press("Space");
      await expect.poll(() => matching(page)).toBe(below);
      await page.getByRole("button", { name: en.ranges.removeOf("lr") }).press("Enter");
      await expect.poll(() => matching(page)).toBe(38);
    });
  });

  it("draw a part of many lines, and say so", async () => {
    await withPlot("study_parallel_many", async (page) => {
      await expect.poll(() => matching(page)).toBe(3_000);
      await page.getByText(en.parallel.sampled("1,500")).waitFor();
      await brush(page, "param:dropout", 0.1, -0.1);
      await expect.poll(() => matching(page)).toBe(750);
      expect(await page.locator("[data-range]").textContent()).toContain("dropout: None");
      expect(await page.locator("[data-lines]").getAttribute("data-lines")).toBe("750");
    });
  });

  it("have an axis for each chosen column", async () => {
    await withPlot("study_parallel", async (page) => {
      expect(await page.locator("[data-grip]").count()).toBe(4);
      await page.locator("[data-part=columns] summary").click();
      await page.locator("[data-show='param:channels']").uncheck();
      await expect.poll(() => page.locator("[data-grip]").count()).toBe(3);
    });
  });
});

/** Presses a button of a plot's frame, and returns the file that the browser saves. */
async function saved(page: Page, plot: string, kind: "csv" | "svg" | "png"): Promise<Buffer> {
  const download = page.waitForEvent("download");
  await page.locator(`[data-plot="${plot}"] [data-action=save_${kind}]`).press("Enter");
  return readFile(await (await download).path());
}

describe("the frame of a plot", () => {
  it.each([
    ["study_contour", "contour", "lr,momentum,Value", 38, "at most"],
    ["study_rank", "rank", "Trial,lr,momentum,Value,Rank,Meets its constraints", 38, "largest: "],
    ["study_edf", "edf", "Value,Share of trials", 100, "Value"],
    [
      "study_importance",
      "importance",
      "Parameter,Importance,Before the parts add up to 1",
      3,
      "lr",
    ],
    [
      ...(["study_timeline", "timeline"] as const),
      "Trial,Device,State,Started,Ended,Run time (ms),Attempts,Cause,Code",
      ...([44, "Complete: 38"] as const),
    ],
    [
      "study_front",
      "front-1-2",
      "Trial,Value 1,Value 2,Pareto front,Meets its constraints",
      38,
      "Value 1",
    ],
    ["study_front", "hypervolume", "Trial,Hypervolume", 38, "Trial"],
    ["study_parallel", "parallel", "Trial,Value,channels,lr,optimizer", 38, "optimizer"],
    ["study_slice", "slice-lr", "Trial,lr,Value,Meets its constraints", 38, "Value against lr"],
  ])(
    "of %s saves its numbers and its picture, by keyboard",
    async (story, plot, head, rows, text) => {
      await withPlot(story, async (page) => {
        const frame = page.locator(`[data-plot="${plot}"]`);
        await frame.locator(".plot-more > summary").focus();
        await page.keyboard.press("Enter");
        await frame.locator("[data-action=save_csv]").waitFor();
        expect(await frame.locator(".plot-table tbody tr").count()).toBe(rows);
        expect(await violations(page)).toEqual([]);
        const lines = (await saved(page, plot, "csv")).toString().trimEnd().split("\r\n");
        expect([lines[0], lines.length]).toEqual([head, rows + 1]);
        const svg = (await saved(page, plot, "svg")).toString();
        expect(svg).toContain(text);
        expect(svg).not.toMatch(/var\(|NaN|class=/);
        expect(svg.match(/<path /g)?.length ?? 0).toBeGreaterThan(3);
        // The size of a PNG is in its head. A picture of one colour would be a few kilobytes at most.
        const png = await saved(page, plot, "png");
        expect(png.toString("latin1", 1, 4)).toBe("PNG");
        const width = Number(/ width="([\d.]+)"/.exec(svg)?.[1]);
        expect(Math.abs(png.readUInt32BE(16) - 3 * width)).toBeLessThanOrEqual(3);
        expect(png.length).toBeGreaterThan(4_000);
        const drawn = await page.evaluate(async (content) => {
          const image = new Image();
          image.src = `data:image/svg+xml,${encodeURIComponent(content)}`;
          await image.decode();
          return image.naturalWidth > 300;
        }, svg);
        expect(drawn).toBe(true);
      });
    },
  );
});

describe("importance", () => {
  it("has a bar for each parameter, and follows the chosen trials", async () => {
    await withPlot("study_importance", async (page) => {
      const shares = () =>
        page
          .locator("[data-plot=importance] [data-share]")
          .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("data-share"))));
      const all = await shares();
      expect(all).toHaveLength(3);
      expect(all.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
      await page.getByText(en.plots.importance.few("50")).waitFor();
      await page.locator("[data-part-link=trials]").click();
      await page.locator("[data-action=expression]").fill("trial < 20");
      await page.locator("[data-part-link=importance]").click();
      await page.locator("[data-part=importance] [data-matching]").waitFor();
      await expect.poll(() => matching(page)).toBeLessThan(20);
      expect(await shares()).not.toEqual(all);
    });
  });

  it("takes the ranges of a grid from the study's space", async () => {
    await withPlot("study_importance_of_grid", async (page) => {
      await expect.poll(() => page.locator("[data-share]").count()).toBe(3);
    });
  });
});

describe("the timeline", () => {
  it("names the trial of a bar, opens it, and says why trials failed", async () => {
    await withPlot("study_timeline", async (page) => {
      expect(await page.locator("[data-lanes]").getAttribute("data-lanes")).toBe("4");
      expect(await page.locator("[data-causes]").textContent()).toBe("ValueError: 2");
      expect(await page.locator("[data-again]").textContent()).toBe(en.plots.timeline.again("1"));
      const lane = page.locator(".lane-plot").first();
      await lane.hover({ position: { x: 3, y: 8 } });
      await expect
        .poll(() => page.locator(".plot-near").textContent())
        .toMatch(/^Trial 0: Complete/);
      await lane.click({ position: { x: 3, y: 8 } });
      await page.locator("[data-view=trial]").waitFor();
      expect(new URL(page.url()).hash).toBe("#/studies/7/trials/0");
    });
  });
});

describe("the hypervolume", () => {
  it("follows the reference point that the reader gives, and only a number", async () => {
    await withPlot("study_front", async (page) => {
      const summary = () =>
        page.locator("[data-part=hypervolume] .chart-plot").getAttribute("aria-label");
      const before = await summary();
      const field = page.locator("[data-reference='0']");
      await field.fill("100");
      await field.press("Enter");
      await expect.poll(summary).not.toBe(before);
      await field.fill("far away");
      await field.press("Enter");
      await expect.poll(summary).toBe(before);
      expect(await violations(page)).toEqual([]);
    });
  });
});

describe("curves", () => {
  const linesOf = (page: Page, series: string) =>
    page.locator(`[data-series="${series}"]`).getAttribute("data-lines");

  it("are drawn for the trials that match, with the reported values first", async () => {
    await withPlot("study_series", async (page) => {
      expect(await page.locator("[data-series]").first().getAttribute("data-series")).toBe(
        en.trial.curve,
      );
      await page.locator('[data-series="train/loss"] svg').waitFor();
      expect(Number(await linesOf(page, "train/loss"))).toBeGreaterThan(30);
      await page.locator("[data-part-link=trials]").click();
      await page.locator("[data-action=expression]").fill("trial < 8 and state == 'complete'");
      await page.locator("[data-part-link=series]").click();
      await expect.poll(() => linesOf(page, "train/loss")).toBe("7");
    });
  });

  it("are smoothed above faint lines, and have a logarithmic scale, by keyboard", async () => {
    await withPlot("study_series", async (page) => {
      const chart = page.locator('[data-series="train/loss"]');
      await chart.locator("svg").waitFor();
      expect(await chart.locator(".is-faint").count()).toBe(0);
      const path = () => chart.locator(".is-thin").first().getAttribute("d");
      const before = await path();
      await page.locator("[data-action=smoothing]").focus();
      await page.keyboard.press("End");
      await expect.poll(() => chart.locator(".is-faint").count()).toBeGreaterThan(0);
      await page.getByText(en.plots.curves.smoothing("99%")).waitFor();
      const smooth = await path();
      expect(smooth).not.toBe(before);
      await page.locator("[data-action=log]").focus();
      await page.keyboard.press("Space");
      await expect.poll(path).not.toBe(smooth);
      expect(await violations(page)).toEqual([]);
    });
  });

  it("name the trial of the line below the pointer, and open it", async () => {
    await withPlot("study_series", async (page) => {
      const plot = page.locator('[data-series="train/loss"] .chart-plot');
      await plot.waitFor();
      await plot.scrollIntoViewIfNeeded();
      const box = await plot.boundingBox();
      if (box === null) throw new Error("no plot");
      const text = () => page.locator('[data-series="train/loss"] .plot-near').textContent();
      // Somewhere in the middle there is a line.
      let y = 0;
      for (y = 10; y < box.height; y += 6) {
        await page.mouse.move(box.x + box.width / 2, box.y + y);
        if (/^Trial \d+, step \d+: /.test((await text()) ?? "")) break;
      }
      const trial = /^Trial (\d+)/.exec((await text()) ?? "")?.[1];
      await page.mouse.click(box.x + box.width / 2, box.y + y);
      await page.locator("[data-view=trial]").waitFor();
      expect(new URL(page.url()).hash).toBe(`#/studies/7/trials/${trial}`);
    });
  });
});

describe("contour and rank", () => {
  it.each(["contour", "rank"])("%s shows the two parameters that are chosen", async (part) => {
    await withPlot(`study_${part}`, async (page) => {
      const plot = page.locator(`[data-plot=${part}] .plot-area`);
      expect(await plot.getAttribute("data-dots")).toBe("38");
      await page.locator("[data-action=up]").selectOption({ label: "width" });
      await expect.poll(() => plot.getAttribute("aria-label")).toContain("lr and width");
      // The same parameter twice has no surface, but dots.
      await page.locator("[data-action=across]").selectOption({ label: "width" });
      await expect.poll(() => plot.getAttribute("aria-label")).toContain("width and width");
      expect(await plot.getAttribute("data-dots")).toBe("38");
      expect(await plot.locator(".contour-level").count()).toBe(0);
    });
  });
});

describe("slices", () => {
  it("show one plot for each parameter, of the objective that is chosen", async () => {
    await withPlot("study_slice_of_two", async (page) => {
      expect(await page.locator(".plot-area").count()).toBe(3);
      expect(await page.locator(".plot-area").first().getAttribute("data-dots")).toBe("38");
      await page.locator("[data-action=objective]").selectOption("1");
      const label = en.table.columns.valueNumbered("2");
      await expect
        .poll(() => page.locator(".plot-area").first().getAttribute("aria-label"))
        .toContain(label);
    });
  });
});
