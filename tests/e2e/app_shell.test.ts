// Tests the join page as an app of the browser, with a real server, two builds of the pages and a real Chromium: without
// a connection, across an update, installed, and removed again.

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { build, type Plugin } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { en } from "../../web-client/src/i18n/en.ts";
import { openProfile } from "../../worker-runtime/node/chromium.ts";
import { queueStudy, ROOT, Server, tapStart, until } from "./stack.ts";

const FIRST = join(ROOT, "build/web");
let workshop: string;
let second: string;
let app: string;
let server: Server;
let folder: string;
let profile: BrowserContext;

/** Changes the content, and so the names, of all scripts. */
const changed = (): Plugin => ({
  name: "test:changed",
  renderChunk: (code) => `${code}\nglobalThis.isSecondVersion = true;`,
});

beforeAll(async () => {
  workshop = await mkdtemp(join(tmpdir(), "hyperflock-versions-"));
  second = join(workshop, "second");
  app = join(workshop, "served");
  await build({
    configFile: join(ROOT, "web-client/vite.config.ts"),
    logLevel: "warn",
    build: { outDir: second, emptyOutDir: true },
    plugins: [changed()],
    worker: { plugins: () => [changed()] },
  });
});

afterAll(async () => {
  await rm(workshop, { recursive: true, force: true });
});

/** Puts a build where the server reads it. The server lists its files when it starts. */
async function install(version: string): Promise<void> {
  await rm(app, { recursive: true, force: true });
  await cp(version, app, { recursive: true });
}

beforeEach(async () => {
  await install(FIRST);
  server = await Server.start({ app });
  folder = await mkdtemp(join(tmpdir(), "hyperflock-profile-"));
  profile = await openProfile(folder);
});

afterEach(async () => {
  await profile?.close();
  await server?.dispose();
  await rm(folder, { recursive: true, force: true });
});

const phase = (page: Page, name: string) => page.locator(`.panel[data-phase="${name}"]`).waitFor();
const title = (page: Page, text: string) =>
  page.locator(".panel-title", { hasText: text }).waitFor();

async function open(path: string): Promise<Page> {
  const page = await profile.newPage();
  await page.goto(path.startsWith("http") ? path : `${server.compute}${path}`);
  return page;
}

/** Opens the join link, starts, and waits until the page is kept. */
async function joined(): Promise<Page> {
  const page = await open(await server.joinUrl());
  await tapStart(page);
  await phase(page, "waiting");
  await until("the service worker", () =>
    page.evaluate(() => navigator.serviceWorker.controller !== null),
  );
  return page;
}

const entryOf = (page: Page) =>
  page.evaluate(() => document.querySelector("script[src]")?.getAttribute("src"));
const registrations = (page: Page) =>
  page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
const shells = (page: Page) =>
  page.evaluate(async () =>
    (await caches.keys()).filter((name) => name.startsWith("hyperflock-shell-")),
  );

async function update(version: string): Promise<void> {
  await server.kill("SIGTERM");
  await install(version);
  await server.restart();
}

test("before the tap nothing is kept", async () => {
  const page = await open(await server.joinUrl());
  await phase(page, "idle");
  await page.waitForLoadState("networkidle");
  expect(await registrations(page)).toBe(0);
  expect(await page.evaluate(() => caches.keys())).toEqual([]);
});

test("without a server the page opens, isolated, says so, and goes on when the server is back", async () => {
  await (await joined()).close();
  await server.kill("SIGTERM");
  const began = performance.now();
  const page = await open("/");
  await title(page, en.app.offline.title);
  console.log(`${Math.round(performance.now() - began)} ms from the address to the words`);
  expect(new URL(page.url()).pathname).toBe("/join");
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  await page.locator(".panel-text", { hasText: en.app.offline.text }).waitFor();
  await server.restart();
  await page.locator("[data-action=reload_project]").click();
  await title(page, en.memory.heading);
  await tapStart(page);
  await phase(page, "waiting");
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
});

test("a server that accepts and does not answer is not waited for", async () => {
  await (await joined()).close();
  process.kill(server.pid, "SIGSTOP");
  try {
    const page = await open("/join");
    await page.locator("h1").waitFor();
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  } finally {
    process.kill(server.pid, "SIGCONT");
  }
});

test("a trial runs below the service worker, and no code or secret is in a cache", async () => {
  const page = await joined();
  await page.reload();
  await tapStart(page);
  await queueStudy(server, ["tests/e2e/objectives/constant.py"]);
  await page.locator("[data-contribution=trials]", { hasText: "1" }).waitFor();
  const { kept, secrets } = await page.evaluate(async () => {
    const texts: string[] = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) {
        const response = await cache.match(request);
        const headers = [...(response?.headers ?? []), ...request.headers].flat().join(" ");
        texts.push(`${name} ${request.url} ${headers} ${await response?.text()}`);
      }
    }
    const opened = indexedDB.open("hyperflock");
    await new Promise((resolve) => opened.addEventListener("success", resolve));
    const all = opened.result.transaction("devices").objectStore("devices").getAll();
    await new Promise((resolve) => all.addEventListener("success", resolve));
    return { kept: texts, secrets: all.result.map(({ secret }: { secret: string }) => secret) };
  });
  const { enrolment_code } = await server.credentials();
  expect(secrets).toHaveLength(1);
  for (const text of [enrolment_code, ...secrets]) {
    expect(kept.filter((one) => one.includes(text))).toEqual([]);
  }
  const paths = kept.map((one) => new URL(one.split(" ")[1] ?? "").pathname);
  expect(paths).toContain("/join");
  const others = paths.filter((path) => !/^\/(join$|app\/|api\/blobs\/)/.test(path));
  expect(others).toEqual([]);
});

test("a page of the old version goes on with files that the new server lacks, and changes by a tap", async () => {
  await (await joined()).close();
  await server.untilNobodyIsConnected();
  const old = await open("/");
  await title(old, en.memory.heading);
  const first = await entryOf(old);
  await update(second);

  const fresh = await open("/");
  await title(fresh, en.memory.heading);
  expect(await entryOf(fresh)).not.toBe(first);
  await old.locator("[data-note=new_version]").waitFor();
  await fresh.close();

  // The old page has not yet fetched the script of its thread, and this server does not have it.
  const names = await old.evaluate(async () => {
    const cache = await caches.open((await caches.keys())[0] ?? "");
    return (await cache.keys()).map(({ url }) => url);
  });
  const thread = names.find((url) => url.includes("agent-thread"));
  expect((await fetch(thread ?? "")).status).toBe(404);
  await old.locator("[data-action=start]").click();
  await phase(old, "waiting");
  expect(await old.locator("[data-note=new_version]").count()).toBe(0);
  const study = await queueStudy(server, ["tests/e2e/objectives/constant.py"]);
  await old.locator("[data-contribution=trials]", { hasText: "1" }).waitFor();
  expect(study).toBeGreaterThan(0);

  await old.locator("[data-action=stop]").click();
  await old.locator("[data-action=reload]").click();
  await title(old, en.memory.heading);
  expect(await entryOf(old)).not.toBe(first);
  expect(await old.evaluate(() => "isSecondVersion" in globalThis)).toBe(true);
});

test("the next start shows the new version, and a server without the script ends it all", async () => {
  const first = await joined();
  const entry = await entryOf(first);
  await first.close();
  await update(second);
  const page = await open("/");
  await title(page, en.memory.heading);
  expect(await entryOf(page)).not.toBe(entry);

  await server.kill("SIGTERM");
  await rm(join(app, "sw.js"));
  await rm(join(app, "sw.js.br"));
  await rm(join(app, "sw.js.gz"));
  await server.restart();
  await page.reload();
  await until("the end of the service worker", async () => (await registrations(page)) === 0);
  await until("the end of its caches", async () => (await shells(page)).length === 0);
  await page.reload();
  await title(page, en.memory.heading);
  expect(await page.evaluate(() => navigator.serviceWorker.controller)).toBeNull();
});

test("who forgets the last project keeps nothing of the page either", async () => {
  const page = await joined();
  expect(await shells(page)).toHaveLength(1);
  await page.locator(".privacy:not(.passphrase) summary").click();
  await page.locator("[data-action=forget_ask]").click();
  await page.locator("[data-action=forget]").click();
  await phase(page, "forgotten");
  await until("the end of the service worker", async () => (await registrations(page)) === 0);
  await until("the end of its caches", async () => (await shells(page)).length === 0);
});

test("a link preview has a title and a picture with its whole address, and no code", async () => {
  const link = await fetch((await server.joinUrl()).split("#")[0] ?? "");
  const page = await link.text();
  const said = (property: string) =>
    new RegExp(`<meta property="og:${property}" content="([^"]+)"`).exec(page)?.[1] ?? "";
  expect(said("title")).toContain("Hyperflock");
  expect(said("image")).toBe(`${server.compute}/preview.png`);
  const picture = await fetch(said("image"));
  expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(page).not.toContain((await server.credentials()).enrolment_code);
});

test("the page can be installed", async () => {
  const page = await open(await server.joinUrl());
  const session = await profile.newCDPSession(page);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  expect(installabilityErrors).toEqual([]);
  const { url, errors, data } = await session.send("Page.getAppManifest");
  expect([url, errors]).toEqual([`${server.compute}/manifest.webmanifest`, []]);
  const manifest = JSON.parse(data ?? "") as { start_url: string; icons: { src: string }[] };
  expect(manifest.start_url).toBe("/");
  for (const { src } of manifest.icons) {
    const icon = await fetch(`${server.compute}${src}`);
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/png"]);
  }
});
