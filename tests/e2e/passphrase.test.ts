// Tests a volunteer's passphrase with a real server and real browser profiles: what one device gave is shown by a fresh
// profile after its words were entered, before and after that profile has a device, and is erased with the devices.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openProfile } from "../../worker-runtime/node/chromium.ts";
import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";
import { queueStudy, Server, tapStart, until } from "./stack.ts";

let server: Server;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await Server.start();
});

afterAll(async () => {
  await server?.dispose();
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function newProfile(): Promise<BrowserContext> {
  const folder = await mkdtemp(join(tmpdir(), "hyperflock-profile-"));
  const profile = await openProfile(folder);
  closing.push(
    () => rm(folder, { recursive: true, force: true }),
    () => profile.close(),
  );
  return profile;
}

async function open(profile: BrowserContext, path: string): Promise<Page> {
  const page = await profile.newPage();
  await page.goto(path.startsWith("http") ? path : `${server.compute}${path}`);
  return page;
}

const tap = (page: Page, action: string) => page.locator(`[data-action="${action}"]`).click();
const fold = (page: Page) => page.locator(".passphrase summary").click();

/** Returns how many trials the page shows in all. */
async function shown(page: Page): Promise<string | null> {
  const row = page.locator("[data-given=spans] tr").last();
  return (await row.count()) === 0 ? null : await row.locator("td").first().textContent();
}

test("eight words bring what a device gave to a fresh profile, and an erasure takes it away", async () => {
  const link = await server.joinUrl();
  const old = await open(await newProfile(), link);
  await queueStudy(server, ["tests/e2e/objectives/constant.py"]);
  await tapStart(old);
  await until("the first trials are shown", async () => Number(await shown(old)) > 0);
  await old.locator('.panel[data-phase="waiting"]').waitFor();
  await fold(old);
  await tap(old, "passphrase_make");
  await old.locator(".passphrase-words li").nth(7).waitFor({ timeout: LIMIT_MS });
  const words = await old.locator(".passphrase-words li").allTextContents();
  expect(words).toHaveLength(8);
  // The words were shown once: neither the page nor the storage of the browser has them.
  await tap(old, "passphrase_done");
  await old.locator("[data-passphrase=kept]").waitFor();
  const stored = await old.evaluate(() => JSON.stringify({ ...localStorage }));
  for (const word of words.filter((one) => one.length > 5)) expect(stored).not.toContain(word);
  await until("all trials are counted", async () => {
    const { given } = await ownCount(old);
    return given > 0 && String(given) === (await shown(old));
  });
  const gave = await shown(old);

  // A fresh profile without a code and without a device.
  const profile = await newProfile();
  let fresh = await open(profile, "/");
  await fold(fresh);
  await tap(fresh, "passphrase_enter");
  await fresh.locator("[name=passphrase]").fill("acid again");
  await tap(fresh, "passphrase_confirm");
  await fresh.locator("[aria-invalid=true]").waitFor();
  await fresh.locator("[name=passphrase]").fill(words.map((word) => word.slice(0, 3)).join(" "));
  await tap(fresh, "passphrase_confirm");
  await until("the fresh profile shows it", async () => (await shown(fresh)) === gave);

  // It is there on the next visit, and the device that joins is counted, too.
  await fresh.close();
  fresh = await open(profile, link);
  await until("it is shown again", async () => (await shown(fresh)) === gave);
  await tapStart(fresh);
  await fresh.locator('.panel[data-phase="waiting"]').waitFor({ timeout: LIMIT_MS });
  await until("two devices have the words", async () => {
    await fresh.reload();
    await fold(fresh);
    await fresh.locator("[data-passphrase=kept]").waitFor();
    return (await fresh.locator("[data-passphrase=kept]").textContent())?.includes("2") === true;
  });
  expect(await shown(fresh)).toBe(gave);

  // The old device is forgotten: its part is gone everywhere.
  await tap(old, "stop");
  await old.locator(".privacy:not(.passphrase) summary").click();
  await tap(old, "forget_ask");
  await tap(old, "forget");
  await old.locator('.panel[data-phase="forgotten"]').waitFor();
  expect(await old.evaluate(() => localStorage.getItem("hyperflock.passphrase"))).toBeNull();
  await until("the fresh profile shows it no more", async () => {
    await fresh.reload();
    await fold(fresh);
    await fresh.locator("[data-passphrase=kept]").waitFor();
    return (await shown(fresh)) === null;
  });
});

/** What the server says about the page's device itself. */
async function ownCount(page: Page): Promise<{ given: number }> {
  return page.evaluate(async () => {
    const kept = JSON.parse(localStorage.getItem("hyperflock.passphrase") ?? "null");
    const answer = await fetch("/api/passphrase", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ key: kept.key }),
    });
    const body = await answer.json();
    return { given: body.projects[0]?.all.trials ?? 0 };
  });
}
