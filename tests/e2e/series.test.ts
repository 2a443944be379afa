// Tests that data logged by trials in a real browser reach the researcher: tables have the series with their
// missing values, and also the summary, attributes and an image; the researcher's page shows the series as charts.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { joinVolunteer, runPython, Server } from "./stack.ts";

const STEPS = 1_200;

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await Server.start();
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

test("every number that a trial logs in Chromium arrives in to_pandas and on the page", async () => {
  const run = await runPython(server, ["tests/e2e/objectives/logs.py"]);
  await joinVolunteer(browser, await server.joinUrl());
  expect(await run.done, run.output()).toBe(0);
  const found = JSON.parse(run.output().trim().split("\n").at(-1) ?? "");
  const names = ["loss", "rate", "val/accuracy", "epoch", "main/loss", "elapsed_time"];
  expect(found).toMatchObject({
    columns: [...[...names, "parameters"].map((name) => `summary_${name}`), "user_attrs_git"],
    attributes: { git: "a3f9c2e" },
    // The tables have a row for each step and one for each epoch of the trainer.
    rows: [STEPS + 3, STEPS + 3],
    names: ["number", "step", ...names],
    gap: [true, true],
    losses: [0.5 / STEPS, 0.25 / STEPS],
    epochs: [0, 1, 2],
    "main/loss": 6,
    points: { loss: STEPS, rate: STEPS, "val/accuracy": 12, epoch: 15, "main/loss": 3 },
    files: [`sample@${STEPS + 7}.png`],
    csv: 2 * (STEPS + 3) + 1,
  });
  expect(found.summary).toMatchObject({ loss: 0.5 / STEPS, rate: 0.25, parameters: 3 });

  const { researcher_token } = await server.credentials();
  const page = await browser.newPage({ locale: "en-US", viewport: { width: 1280, height: 900 } });
  await page.goto(`${server.console}/research`);
  await page.locator("#token").fill(researcher_token);
  await page.locator("[data-action=sign_in]").click();
  await page.locator(".study-link").first().click();
  await page.locator("[data-part-link=series]").click();
  for (const name of names) {
    const chart = page.locator(`[data-series="${name}"]`);
    await chart.scrollIntoViewIfNeeded();
    await chart.locator("svg").waitFor();
  }
  await page.goto(`${server.console}/research#/studies/1/trials/0`);
  await page.locator('[data-series="val/accuracy"] svg').waitFor();
  expect(await page.locator("[data-part=summary]").textContent()).toContain("parameters");
  expect(await page.locator("[data-part=attributes]").textContent()).toContain("a3f9c2e");
});
