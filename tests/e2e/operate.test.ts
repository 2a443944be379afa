// Tests the administrators' view on a real server: what it shows is the server's, and what it changes counts at once for
// the researcher whom it is about.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { Server, until } from "./stack.ts";

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

/** Returns the researcher's answer to a request: its status and its message, if it was refused. */
async function asResearcher(path: string): Promise<{ status: number; message: string }> {
  const { researcher_token } = await server.credentials();
  const response = await fetch(`${server.console}${path}`, {
    headers: { authorization: `Bearer ${researcher_token}` },
  });
  const body = (await response.json()) as { error?: { message: string } };
  return { status: response.status, message: body.error?.message ?? "" };
}

async function confirm(page: Page, action: string, reason: string): Promise<string> {
  const dialog = page.locator("dialog[open]");
  await dialog.waitFor();
  const text = (await dialog.textContent()) ?? "";
  await dialog.locator("[name=reason]").fill(reason);
  await dialog.locator(`[data-action=${action}_yes]`).click();
  return text;
}

test("an administrator suspends a researcher, lets them back, and changes their quota", async () => {
  const { admin_token } = await server.credentials();
  const context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(server.console);
  await page.locator("#token").fill(admin_token);
  await page.locator("[data-action=sign_in]").click();
  await page.locator("[data-action=operate]").click();
  const row = page.locator("[data-person]", { hasText: "In First project" });
  await row.waitFor();
  expect(Number(await page.locator("[data-room]").getAttribute("data-room"))).toBeGreaterThan(0);
  expect(await row.getAttribute("data-state")).toBe("active");

  await row.locator("[data-action=suspend]").click();
  expect(await confirm(page, "suspend", "too much traffic")).toContain("stop on every device");
  await until("the suspension", async () => (await row.getAttribute("data-state")) === "suspended");
  expect(await row.textContent()).toContain("Reason: too much traffic");
  const refused = await asResearcher("/api/me");
  expect(refused.status).toBe(403);
  expect(refused.message).toContain("too much traffic");

  await row.locator("[data-action=let_in]").click();
  await until("the return", async () => (await row.getAttribute("data-state")) === "active");
  expect((await asResearcher("/api/me")).status).toBe(200);

  await row.locator("[data-action=quota]").click();
  await page.locator("dialog[open] [name=studies]").fill("3");
  await page.locator("dialog[open] [name=bytes]").fill("0.5");
  await page.locator("dialog[open] [data-action=quota_yes]").click();
  await row.getByText("0 / 500 MB").waitFor();
  const { quota } = await server.api<{ quota: { studies: number; trials: number; bytes: number } }>(
    "/api/me",
  );
  expect(quota).toMatchObject({ studies: 3, bytes: 500_000_000 });

  // A freeze is asked for, and its lifting is not.
  const project = page.locator("[data-project]").first();
  await project.locator("[data-action=freeze]").click();
  expect(await confirm(page, "freeze", "")).toContain("First project");
  await project.locator("[data-action=unfreeze]").click();
  await project.locator("[data-action=freeze]").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("an administrator shares the devices on a small phone, and a wrong name changes nothing", async () => {
  const { admin_token } = await server.credentials();
  const headers = { authorization: `Bearer ${admin_token}` };
  const shares = async () =>
    (await server.api<{ shares: Record<string, unknown>[] }>("/api/shares", { headers })).shares;
  const context = await browser.newContext({
    locale: "en-US",
    viewport: { width: 320, height: 700 },
  });
  const page = await context.newPage();
  await page.goto(server.console);
  await page.locator("#token").fill(admin_token);
  await page.locator("[data-action=sign_in]").click();
  await page.locator("[data-action=operate]").click();
  const set = async (scope: "researcher" | "project", fields: Readonly<Record<string, string>>) => {
    await page.locator("#share-scope").selectOption(scope);
    for (const name of ["name", "weight", "guaranteed", "lends"]) {
      await page.locator(`#share-${name}`).fill(fields[name] ?? "");
    }
    await page.locator("[data-action=set_share]").click();
  };
  await page.locator("#share-name").waitFor();

  await set("researcher", { name: "nobody of this name", weight: "200" });
  await page.locator("[data-problem=bad_field]").waitFor();
  expect(await shares()).toEqual([]);

  await set("researcher", { name: "researcher", weight: "200", guaranteed: "3" });
  const row = page.locator("[data-share=researcher]");
  await row.getByText("200").waitFor();
  await set("project", { name: "First project", lends: "*" });
  await page.locator("[data-share=project]").getByText("every project").waitFor();
  expect(await shares()).toMatchObject([
    { scope: "project", name: "First project", lends: ["*"] },
    { scope: "researcher", name: "researcher", weight: 200, guaranteed: 3 },
  ]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);

  // A share without anything in it leaves the list.
  await set("researcher", { name: "researcher" });
  await row.waitFor({ state: "detached" });
  await context.close();
});
