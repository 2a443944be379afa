// Tests a volunteer's tabs with a real server: two tabs, a killed one, a closed one, and a page that is not isolated.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { en } from "../../web-client/src/i18n/en.ts";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { CountingProxy } from "./counting_proxy.ts";
import {
  crash,
  openVolunteer,
  queueStudy,
  runPython,
  Server,
  type TrialRow,
  tapStart,
  until,
} from "./stack.ts";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  // Leases are so long that none expires. So a trial is leased again only after a page has released it.
  server = await Server.start({ args: ["--lease-ms", "600000"] });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

const attemptsOf = async (study: number) =>
  (await server.api<TrialRow>(`/api/studies/${study}/trials/0`)).attempts_list ?? [];

const phase = (page: Page, name: string) => page.locator(`.panel[data-phase="${name}"]`).waitFor();

test("one tab computes, another may take over; killed, it says so and goes on; closed, it gives back at once", async () => {
  const study = await queueStudy(server, ["tests/e2e/objectives/constant.py", "--endless"]);
  const context = await browser.newContext({ locale: "en-US" });
  // The proxy can see a request that a page sends while it is being closed.
  const proxy = await CountingProxy.start(server.compute);
  const joinUrl = await server.joinUrl(proxy.origin);
  const { page: first } = await openVolunteer(context, joinUrl);
  await tapStart(first);
  await phase(first, "computing");

  const { page: second } = await openVolunteer(context, joinUrl);
  await tapStart(second);
  await phase(second, "elsewhere");
  await second.locator("[data-action=start]").click();
  await phase(first, "replaced");
  await phase(second, "computing");
  expect((await attemptsOf(study)).map(({ state }) => state)).toEqual(["released", "live"]);

  await crash({ context, page: second });
  const { page: third } = await openVolunteer(context, joinUrl);
  await third
    .locator(".panel-advice", { hasText: en.states.interruptedTrial("1", "constant") })
    .waitFor();
  await tapStart(third);
  await phase(third, "computing");
  await third.locator(".panel-advice", { hasText: en.states.comesBack }).waitFor();

  await third.close({ runBeforeUnload: true });
  const attempts = await until("the release", async () => {
    const all = await attemptsOf(study);
    return all.every(({ state }) => state === "released") && all;
  });
  await until("the page's last word", async () =>
    proxy.transfers.some(({ path, status }) => path === "/api/leave" && status === 200),
  );
  expect(attempts).toHaveLength(3);
  // The device is always the same: no tab enrolled a new one.
  expect(new Set(attempts.map(({ device }) => JSON.stringify(device))).size).toBe(1);
  await server.api(`/api/studies/${study}/cancel`, { method: "POST" });
  await context.close();
  await proxy.close();
});

test("a page that is not isolated computes the same by JSPI, and its training reports", async () => {
  const isolation = ["cross-origin-opener-policy", "cross-origin-embedder-policy"];
  const proxy = await CountingProxy.start(server.compute, isolation);
  const context = await browser.newContext({ locale: "en-US" });
  try {
    const { page, errors } = await openVolunteer(context, await server.joinUrl(proxy.origin));
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
    const grid = await runPython(server, [...["tests/e2e/objectives/waiting.py", "--trials", "2"]]);
    await tapStart(page);
    expect(await grid.done, grid.output()).toBe(0);
    expect(errors).toEqual([]);
  } finally {
    await context.close();
    await proxy.close();
  }
});
