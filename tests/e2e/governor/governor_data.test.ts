// Tests the volunteer's limits on data in a real Chromium: what is fetched is counted, a study with too much data is not
// taken, the page says which limit and what would change it, and nothing is fetched twice.
//
// LARGE_DATA=1 does the last test with 270 MB.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium, openProfile } from "../../../worker-runtime/node/chromium.ts";
import { CountingProxy } from "../counting_proxy.ts";
import { queueStudy, Server, type StudyRow, tapStart, until } from "../stack.ts";

const MIB = 1 << 20;
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

interface Device {
  readonly page: Page;
  /** The sizes of the data that were fetched. */
  readonly fetched: () => readonly number[];
  /** The paths of all files that were fetched. */
  readonly paths: () => readonly string[];
  close(): Promise<void>;
}

/** Opens the join page with these limits. The page's date can be moved by `dayOffset`. */
async function open(limits: object, profile?: BrowserContext): Promise<Device> {
  const context = profile ?? (await browser.newContext({ locale: "en-US" }));
  await context.addInitScript((stored) => {
    if (localStorage.getItem("hyperflock.limits") === null) {
      localStorage.setItem("hyperflock.limits", JSON.stringify(stored));
    }
    const scope = globalThis as unknown as { dayOffset: number };
    scope.dayOffset = 0;
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...args: []) {
        if (args.length > 0) super(...args);
        else super(Real.now() + scope.dayOffset * 86_400_000);
      }
    } as DateConstructor;
  }, limits);
  const proxy = await CountingProxy.start(new URL(server.compute));
  const page = await context.newPage();
  await page.goto((await server.joinUrl()).replace(server.compute, proxy.origin));
  return {
    page,
    paths: () => proxy.transfers.map(({ path }) => path),
    fetched: () => proxy.transfers.map(({ bytes }) => bytes).filter((bytes) => bytes > 10 * MIB),
    close: async () => {
      await context.close();
      await proxy.close();
    },
  };
}

const said = (page: Page, text: string | RegExp) =>
  page.locator(".panel-text", { hasText: text }).waitFor();
const choose = async (page: Page, name: string, value: number | "") => {
  if ((await page.locator(".limits[open]").count()) === 0) {
    await page.locator(".limits summary").click();
  }
  await page.locator(`[name=${name}]`).selectOption(String(value));
};
const ended = (study: number) =>
  until("the end of the study", async () => {
    return (await server.api<StudyRow>(`/api/studies/${study}`)).state === "finished";
  });
const queue = (mib: number, trials: number, seed: number) =>
  queueStudy(server, [
    "tests/e2e/objectives/with_data.py",
    "--queue",
    ...["--mib", `${mib}`, "--trials", `${trials}`, "--seed", `${seed}`],
  ]);
const usedToday = (page: Page) =>
  page.evaluate(() => {
    const used = JSON.parse(localStorage.getItem("hyperflock.computed-today") ?? "{}");
    return Number(used.bytes);
  });

test("A study over the limit of one study is not fetched, is named, and starts when more is allowed.", async () => {
  const study = await queue(21, 3, 1);
  const { page, fetched, close } = await open({ dataAStudy: 20e6 });
  await tapStart(page);
  await said(page, "“with-data” would fetch 22 MB, and you allow 20 MB for one study");
  expect(fetched()).toEqual([]);
  // A study that fetches less starts by itself meanwhile.
  await ended(await queue(2, 1, 2));
  await said(page, "you allow 20 MB for one study");
  await choose(page, "data_a_study", 100e6);
  await ended(study);
  expect(fetched()).toHaveLength(1);
  await close();
});

test("Packs count for the limit of one study, before any of them is fetched.", async () => {
  // The data alone have 13 MB.
  const kind = ["sklearn-data", "--seed", "1", "--mib", "12"];
  const study = await queueStudy(server, ["tests/e2e/objectives/kinds.py", ...kind]);
  const { page, paths, close } = await open({ dataAStudy: 20e6 });
  const hasPacks = () => paths().some((path) => path.includes("/scipy-"));
  await tapStart(page);
  await said(page, /“kind sklearn-data 1” would fetch 24(\.\d+)? MB, and you allow 20 MB/);
  expect(hasPacks()).toBe(false);
  await choose(page, "data_a_study", 100e6);
  await ended(study);
  expect(hasPacks()).toBe(true);
  await close();
});

test("What is fetched counts for the day, also after a reload, and a study over the rest waits for tomorrow.", async () => {
  const first = await queue(24, 1, 3);
  const { page, fetched, close } = await open({ dataADay: 50e6 });
  await tapStart(page);
  await ended(first);
  const used = await until("the count", async () => {
    const bytes = await usedToday(page);
    return bytes > 24 * MIB && bytes;
  });
  expect(used).toBeLessThan(50e6);
  const second = await queue(24, 1, 4);
  await said(page, "too little is left of the 50 MB that you allow in one day");
  await page.reload();
  await tapStart(page);
  await said(page, /too little is left.*tomorrow/);
  expect(fetched()).toHaveLength(1);
  await page.evaluate(() => {
    (globalThis as unknown as { dayOffset: number }).dayOffset = 1;
  });
  await ended(second);
  expect(fetched()).toHaveLength(2);
  await close();
});

test("A day's data that is used up pauses the device, says so, and more data lets it go on.", async () => {
  const first = await queue(49, 1, 5);
  const { page, close } = await open({ dataADay: 200e6 });
  await tapStart(page);
  await ended(first);
  await page.locator(".panel[data-phase=waiting]").waitFor();
  await page.locator("[data-action=stop]").click();
  await choose(page, "data_a_day", 50e6);
  await page.locator("[data-action=start]").click();
  await page.locator(".panel-title", { hasText: "Paused: enough data for today" }).waitFor();
  await choose(page, "data_a_day", "");
  await page.locator(".panel[data-phase=waiting]").waitFor();
  await close();
});

test("Three trials with the same data fetch it once.", async () => {
  const mib = process.env.LARGE_DATA === "1" ? 258 : 30;
  const study = await queue(mib, 3, 6);
  // A context without a profile keeps its cache in memory, and has room for little.
  const folder = await mkdtemp(join(tmpdir(), "hyperflock-profile-"));
  const { page, fetched, close } = await open({}, await openProfile(folder));
  await tapStart(page);
  await ended(study);
  expect(fetched()).toHaveLength(1);
  expect(fetched()[0]).toBeGreaterThanOrEqual(mib * MIB);
  expect(fetched()[0]).toBeLessThan(mib * MIB + 4_096);
  console.log(`three trials with ${mib} MiB fetched ${fetched()[0]} bytes`);
  await close();
  await rm(folder, { recursive: true, force: true });
});
