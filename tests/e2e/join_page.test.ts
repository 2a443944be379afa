// Tests the join page's buttons with a real server, in a browser that really computes: pause, resume, stop later.
// Also tests a link with the codes of several projects.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { joinVolunteer, openVolunteer, runPython, Server } from "./stack.ts";

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

test("a paused device gives its trial back, and a finishing one delivers its last", async () => {
  const { page, context, errors } = await joinVolunteer(browser, await server.joinUrl());
  const grid = await runPython(server, ["python/examples/digits_grid.py"]);

  await page.locator("[data-phase=computing]").waitFor();
  await page.locator("[data-action=pause]").click();
  await page.locator("[data-phase=paused]").waitFor();
  await server.untilNobodyIsConnected();
  const paused = await server.newestStudy();

  await page.locator("[data-action=resume]").click();
  await page.locator("[data-phase=computing]").waitFor();
  await page.locator("[data-action=finish]").click();
  await page.locator("[data-phase=finished]").waitFor();
  await server.untilNobodyIsConnected();
  const finished = await server.newestStudy();
  expect(finished?.complete).toBeGreaterThan(paused?.complete ?? 0);
  expect(finished?.state).toBe("running");
  const trials = Number(await page.locator("[data-contribution=trials]").textContent());
  expect(trials).toBe(finished?.complete);

  await page.locator("[data-action=start]").click();
  expect(await grid.done, grid.output()).toBe(0);
  expect(await server.newestStudy()).toMatchObject({ state: "finished", complete: 8, failed: 0 });
  expect(errors).toEqual([]);
  await context.close();
});

test("a link of several codes offers their projects", async () => {
  const { code } = await server.api<{ code: string }>("/api/enrolment", {
    method: "POST",
    body: "{}",
  });
  const context = await browser.newContext({ locale: "en-US" });
  const volunteer = await openVolunteer(context, `${await server.joinUrl()},${code}`);
  const choices = volunteer.page.locator("input[type=radio]");
  await choices.nth(1).check();
  await volunteer.page.locator("[data-action=start]").click();
  await volunteer.page.locator("[data-phase=waiting]").waitFor();
  await context.close();
});

/** Returns the number of devices that the server knows. */
const knownDevices = async () => {
  const { projects } = await server.api<{ projects: { devices: number }[] }>("/api/projects");
  return projects.reduce((sum, { devices }) => sum + devices, 0);
};

test("a device that is to be forgotten is gone from the server, and may join anew", async () => {
  const before = await knownDevices();
  const { page, context, errors } = await joinVolunteer(browser, await server.joinUrl());
  await page.locator("[data-phase=waiting]").waitFor();
  expect(await knownDevices()).toBe(before + 1);
  await page.locator(".privacy:not(.passphrase) summary").click();
  await page.locator("[data-action=forget_ask]").click();
  await page.locator("[data-action=forget]").click();
  await page.locator("[data-phase=forgotten]").waitFor();
  expect(await knownDevices()).toBe(before);
  await page.locator("[data-action=start]").click();
  await page.locator("[data-phase=waiting]").waitFor();
  expect(await knownDevices()).toBe(before + 1);
  expect(errors).toEqual([]);
  await context.close();
});
