// Tests the volunteer's limits with a real server and a real Chromium whose battery, connection and clock the test sets:
// a limit pauses a running trial, says why, and lets it go on by itself.

import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { en } from "../../../web-client/src/i18n/en.ts";
import { launchChromium } from "../../../worker-runtime/node/chromium.ts";
import { queueStudy, Server, type StudyRow, type TrialRow, tapStart, until } from "../stack.ts";
import { act, type Device, type Reported, simulateDevice } from "./simulated_device.ts";

let server: Server;
let browser: Awaited<ReturnType<typeof launchChromium>>;
let study: number;

beforeAll(async () => {
  server = await Server.start();
  browser = await launchChromium();
  study = await queueStudy(server, ["tests/e2e/objectives/constant.py", "--endless"]);
});

afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

const phase = (page: Page, name: string) => page.locator(`.panel[data-phase="${name}"]`).waitFor();
const title = (page: Page, text: string) =>
  page.locator(".panel-title", { hasText: text }).waitFor();

/** A phone whose browser reports a battery at the charger and a Wi-Fi. */
async function open(): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({
    locale: "en-US",
    viewport: { width: 390, height: 844 },
  });
  await simulateDevice(context);
  const page = await context.newPage();
  await page.goto(await server.joinUrl());
  await page.locator(".limits summary").click();
  return { context, page };
}

const report = (page: Page, change: Reported) => act(page, ["report", change]);

/** The number of times that the study's trial was given back. */
const released = async () => {
  const trial = await server.api<TrialRow>(`/api/studies/${study}/trials/0`);
  return (trial.attempts_list ?? []).filter(({ state }) => state === "released").length;
};

test("each limit pauses a running trial, says why, and ends by itself", async () => {
  const { context, page } = await open();
  await page.locator("[name=only_charging]").check();
  await page.locator("[name=only_unmetered]").check();
  await page.locator("[name=battery_floor]").selectOption("30");
  await tapStart(page);
  await phase(page, "computing");
  expect(await page.locator(".limits").count()).toBe(0);

  // The time is taken in the page, from the browser's report to the words.
  const paused = await page.evaluate(async () => {
    const began = performance.now();
    const { device } = globalThis as unknown as { device: Device };
    device.report({ charging: false });
    while (document.querySelector(".panel[data-phase=paused]") === null) {
      await new Promise(requestAnimationFrame);
    }
    return performance.now() - began;
  });
  console.log(`${Math.round(paused)} ms from the report to the pause`);
  await title(page, "Paused: not charging");
  await page.locator(".panel-advice", { hasText: en.states.trialKept }).waitFor();
  await report(page, { charging: true });
  await phase(page, "computing");

  await report(page, { cellular: true });
  await title(page, "Paused: mobile data");
  await page.locator(".limits summary").click();
  // The controls go away with the pause, so Playwright's uncheck() would wait for them.
  await page.locator("[name=only_unmetered]").click();
  await phase(page, "computing");

  await report(page, { charging: false, level: 0.2 });
  await title(page, "Paused: not charging");
  await page.locator(".limits summary").click();
  await page.locator("[name=only_charging]").click();
  await title(page, "Paused: battery low");
  await report(page, { level: 0.34 });
  await title(page, "Paused: battery low");
  await report(page, { level: 0.36 });
  await phase(page, "computing");
  expect(await released()).toBe(0);
  await context.close();
});

test("a start outside the hours waits, the limits are remembered, and lifting them starts", async () => {
  const { context, page } = await open();
  // One hour that is not now, as the page's own clock says.
  const hour = await page.evaluate(() => (new Date().getHours() + 12) % 24);
  await page.locator("[name=from]").selectOption(String(hour));
  await page.locator("[name=until]").selectOption(String((hour + 1) % 24));
  await page.reload();
  await page.locator(".limits-now", { hasText: `${hour}:00` }).waitFor();
  await tapStart(page);
  await title(page, `Paused until ${hour}:00`);
  await page.locator("[data-action=stop]").click();
  await phase(page, "stopped");
  await page.locator("[data-action=start]").click();
  await title(page, `Paused until ${hour}:00`);
  await page.locator(".limits summary").click();
  await page.locator("[name=from]").selectOption("");
  await phase(page, "computing");
  await page.locator("[data-action=stop]").click();
  await phase(page, "stopped");
  expect(await page.locator(".limits-now").textContent()).toBe(en.limits.none);
  await context.close();
});

test("with a quarter of the processor's time, each piece of work is followed by three of rest", async () => {
  await server.api(`/api/studies/${study}/cancel`, { method: "POST" });
  const paced = await queueStudy(server, ["tests/e2e/objectives/paced.py"]);
  const { context, page } = await open();
  await page.locator("[name=processor_share]").selectOption("0.25");
  await tapStart(page);
  const trial = await until("the end of the study", async () => {
    const { state } = await server.api<StudyRow>(`/api/studies/${paced}`);
    return state === "finished" && server.api<TrialRow>(`/api/studies/${paced}/trials/0`);
  });
  console.log(`a piece takes ${trial.values?.[0]} times as long with its rest`);
  expect(trial.values?.[0]).toBeGreaterThan(3.8);
  await context.close();
});

test("a warm or busy device gets rests, says so, and works all of the time when it has recovered", async () => {
  const steady = await queueStudy(server, ["tests/e2e/objectives/paced.py", "--endless"]);
  const { context, page } = await open();
  await tapStart(page);
  await phase(page, "computing");
  await title(page, "Computing");
  const row = () => server.api<TrialRow>(`/api/studies/${steady}/trials/0`).catch(() => null);
  /** Waits until the trial's newest pieces take about `factor` times as long with their rests. */
  const pace = async (factor: number) => {
    const begun = (await row())?.points?.length ?? 0;
    await until(`pieces that take ${factor} times as long`, async () => {
      const ratios = (await row())?.points?.filter(([step]) => step % 2 === 1) ?? [];
      const newest = ratios.slice(-9).map(([, value]) => value);
      const median = newest.sort((a, b) => a - b)[4] ?? 0;
      const isNew = ratios.length > begun / 2 + 10;
      return isNew && median > 0.9 * factor && median < 1.3 * factor ? median : null;
    });
  };
  const cool = () => act(page, ["pace", 300, 4]);
  await pace(1);
  await act(page, ["press", "critical"]);
  await title(page, "Cooling: 25% of the time");
  await page.locator(".panel-text", { hasText: "under heavy load" }).waitFor();
  await pace(4);
  await act(page, ["press", "nominal"]);
  await title(page, "Cooling: 50% of the time");
  await title(page, "Computing");
  await pace(1);

  await cool();
  await act(page, ["pace", 90, 1]);
  await title(page, "Cooling: 50% of the time");
  await page.locator(".panel-text", { hasText: "become slow" }).waitFor();
  await pace(2);
  await cool();
  await title(page, "Computing");
  await pace(1);
  // The python thread measures by itself, and the trial has kept its lease.
  const measured = await page.evaluate(
    () => (globalThis as unknown as { device: Device }).device.measured,
  );
  expect(measured).toBeGreaterThan(3);
  expect((await row())?.attempts_list?.map(({ state }) => state)).toEqual(["live"]);
  await server.api(`/api/studies/${steady}/cancel`, { method: "POST" });
  await context.close();
});
