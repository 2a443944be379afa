// Tests a volunteer who comes back, with a real server and browser profiles that are closed and opened again: without a
// code in the address, with two projects, with a withdrawn link, with damaged storage.

import { glob, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { en } from "../../web-client/src/i18n/en.ts";
import { FIRST_VISIT_BYTES } from "../../web-client/src/join/download/download.ts";
import { openProfile } from "../../worker-runtime/node/chromium.ts";
import { MIRROR_KEY } from "../../worker-runtime/src/page/project_memory.ts";
import { CountingProxy } from "./counting_proxy.ts";
import { queueStudy, ROOT, runPython, Server, tapStart, until } from "./stack.ts";

let server: Server;
let folder: string;
let profile: BrowserContext;

beforeAll(async () => {
  server = await Server.start();
});

afterAll(async () => {
  await server?.dispose();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hyperflock-profile-"));
  profile = await openProfile(folder);
});

afterEach(async () => {
  await profile?.close();
  await rm(folder, { recursive: true, force: true });
});

const phase = (page: Page, name: string) => page.locator(`.panel[data-phase="${name}"]`).waitFor();

async function open(path: string): Promise<Page> {
  const page = await profile.newPage();
  await page.goto(path.startsWith("http") ? path : `${server.compute}${path}`);
  return page;
}

const mirrorOf = (page: Page) => page.evaluate((key) => localStorage.getItem(key), MIRROR_KEY);

/** Joins by a link, and waits until the page has written down the project, some time after its start. */
async function joinAndRemember(link: string): Promise<Page> {
  const page = await open(link);
  await tapStart(page);
  await phase(page, "waiting");
  const code = new URL(link, server.compute).hash.slice(1);
  await until("the project in the mirror", async () => (await mirrorOf(page))?.includes(code));
  return page;
}

/** Closes the browser and opens it again with the same profile, as on the next day. */
async function nextDay(): Promise<void> {
  await profile.close();
  await server.untilNobodyIsConnected();
  profile = await openProfile(folder);
}

const devices = async () => {
  const { projects } = await server.api<{ projects: { devices: number }[] }>("/api/projects");
  return projects.reduce((sum, { devices: count }) => sum + count, 0);
};

const newLink = () =>
  server.api<{ code: string; enrolment: number }>("/api/enrolment", { method: "POST", body: "{}" });

const note = (page: Page, text: string) =>
  page.locator("[data-memory]", { hasText: text }).waitFor();

test("a profile that is opened again finds its project at / and goes on with one tap", async () => {
  const link = await server.joinUrl();
  let page = await joinAndRemember(link);
  const known = await devices();
  const study = await runPython(server, ["tests/e2e/objectives/constant.py", "--wait"]);
  expect(await study.done, study.output()).toBe(0);
  await page.locator("[data-contribution=trials]", { hasText: "1" }).waitFor();
  // Chromium makes no promise to a page that was visited once, so a bookmark needs the code.
  expect(page.url()).toBe(link);

  await nextDay();
  page = await open("/");
  await page.locator(".panel-title", { hasText: en.memory.heading }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/join");
  expect(await page.locator("[data-contribution=trials]").textContent()).toBe("1");
  await page.locator("[data-given=spans] tr:last-child td", { hasText: "1" }).first().waitFor();
  await tapStart(page);
  await phase(page, "waiting");
  expect(await devices()).toBe(known);
});

test("what the server takes back is not shown as given", async () => {
  let page = await joinAndRemember(await server.joinUrl());
  const study = await runPython(server, ["tests/e2e/objectives/constant.py", "--wait"]);
  expect(await study.done, study.output()).toBe(0);
  await page.locator("[data-given=spans]").waitFor();
  const id = (await server.newestStudy())?.study;

  await nextDay();
  const body = JSON.stringify({ trial: 0, reason: "test" });
  await server.api(`/api/studies/${id}/reject`, { method: "POST", body });
  await server.api(`/api/studies/${id}/cancel`, { method: "POST", body: "{}" });
  page = await open("/");
  await page.locator(".panel-title", { hasText: en.memory.heading }).waitFor();
  // Until the server has had the time to count, the page shows the device's own count.
  await page.locator(".contribution").waitFor({ state: "detached" });
  expect(await page.locator("[data-given=spans]").count()).toBe(0);
});

test("the code leaves the address when the browser promises to keep the project", async () => {
  await profile.addInitScript(() => {
    let isKept = false;
    navigator.storage.persisted = async () => isKept;
    navigator.storage.persist = async () => {
      isKept = true;
      return true;
    };
  });
  const page = await open(await server.joinUrl());
  await tapStart(page);
  await phase(page, "waiting");
  expect(new URL(page.url()).hash).not.toBe("");
  await queueStudy(server, ["tests/e2e/objectives/constant.py"]);
  await page.waitForURL(`${server.compute}/join`);
  const bookmark = await open(page.url());
  await bookmark.locator(".panel-title", { hasText: en.memory.heading }).waitFor();
});

test("two projects are listed; a forgotten one is gone here and at the server", async () => {
  const before = await devices();
  const { code } = await newLink();
  for (const link of [await server.joinUrl(), `${server.compute}/join#${code}`]) {
    const page = await joinAndRemember(link);
    await page.close({ runBeforeUnload: true });
    await server.untilNobodyIsConnected();
  }
  expect(await devices()).toBe(before + 2);
  await nextDay();
  const page = await open("/join");
  await page.locator("input[type=radio]").nth(1).waitFor();
  await page.locator("[data-action=forget_ask]").click();
  await page.locator("[data-action=forget]").click();
  await phase(page, "forgotten");
  expect(await devices()).toBe(before + 1);
  await page.reload();
  await page.locator(".panel-title", { hasText: en.memory.heading }).waitFor();
  expect(await page.locator("input[type=radio]").count()).toBe(0);
});

test("a withdrawn link is said, and who has joined goes on", async () => {
  const { code, enrolment } = await newLink();
  const first = await joinAndRemember(`/join#${code}`);
  await first.close({ runBeforeUnload: true });
  await server.untilNobodyIsConnected();
  await server.api(`/api/enrolment/${enrolment}/revoke`, { method: "POST", body: "{}" });
  const page = await open("/");
  await page.locator(".panel-text", { hasText: en.memory.linkEnded }).waitFor();
  await tapStart(page);
  await phase(page, "waiting");
});

test("damaged or half-lost storage is said, and what is left goes on", async () => {
  let page = await joinAndRemember(await server.joinUrl());
  await page.evaluate((key) => localStorage.setItem(key, "{"), MIRROR_KEY);
  page = await open("/");
  await page.locator(".panel-title", { hasText: en.memory.heading }).waitFor();
  await note(page, en.memory.damaged);

  // The project is in the mirror only, the device nowhere: it joins as a new one, by the code.
  await tapStart(page);
  await phase(page, "elsewhere");
  await page.locator("[data-action=start]").click();
  await phase(page, "waiting");
  await until("the mirror", async () => (await mirrorOf(page))?.startsWith("["));
  const mirror = await mirrorOf(page);
  await profile.close();
  await rm(folder, { recursive: true, force: true });
  profile = await openProfile(folder);
  const fresh = await open("/");
  await fresh.locator(".panel-title", { hasText: en.projectProblems.no_code.title }).waitFor();
  await fresh.evaluate((text) => localStorage.setItem("hyperflock.projects", text ?? ""), mirror);
  await fresh.reload();
  await tapStart(fresh);
  await phase(fresh, "waiting");
});

test("a browser that keeps nothing says so, and computes all the same", async () => {
  await profile.addInitScript(() => {
    const refuse = () => {
      throw new DOMException("refused", "SecurityError");
    };
    Object.defineProperty(globalThis, "localStorage", { get: refuse });
    IDBFactory.prototype.open = refuse;
  });
  const page = await open(await server.joinUrl());
  await tapStart(page);
  await phase(page, "waiting");
  await note(page, en.memory.notKept);
  expect(new URL(page.url()).hash).not.toBe("");
});

test("a reload in the middle of a trial is no crash", async () => {
  const study = await queueStudy(server, ["tests/e2e/objectives/constant.py", "--endless"]);
  const page = await open(await server.joinUrl());
  await tapStart(page);
  await phase(page, "computing");
  await page.reload();
  await page.locator(".panel-title", { hasText: en.memory.heading }).waitFor();
  expect(await page.evaluate(() => localStorage.getItem("hyperflock.running"))).toBeNull();
  expect(await page.locator(".panel-advice").count()).toBe(0);
  await page.goto("about:blank");
  await page.goBack();
  await page.locator(".panel-title", { hasText: en.memory.heading }).waitFor();
  expect(await page.locator(".panel-advice").count()).toBe(0);
  await server.api(`/api/studies/${study}/cancel`, { method: "POST" });
});

test("the page says before the tap, and while it loads, the bytes that the network moves", async () => {
  const proxy = await CountingProxy.start(server.compute);
  try {
    const page = await open(await server.joinUrl(proxy.origin));
    const said = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
    const size = `${said.format(FIRST_VISIT_BYTES / 1e6)} MB`;
    await page
      .locator(".fact", { hasText: en.facts.download.title(en.facts.download.about(size)) })
      .waitFor();
    await page.evaluate(() => {
      const totals = new Set<string>();
      Object.assign(globalThis, { totals });
      new MutationObserver(() => {
        const text = document.querySelector("[data-phase=loading] [role=progressbar]");
        const total = / of (.*)$/.exec(text?.parentElement?.textContent ?? "")?.[1];
        if (total !== undefined) totals.add(total);
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    proxy.take();
    const study = await queueStudy(server, ["tests/e2e/objectives/constant.py", "--endless"]);
    await tapStart(page);
    await phase(page, "computing");
    expect(await page.title()).toBe(`${en.states.computing} – Hyperflock`);
    const moved = proxy.take().reduce((sum, { bytes }) => sum + bytes, 0);
    const shown = await page.evaluate(() => [
      ...(globalThis as unknown as { totals: Set<string> }).totals,
    ]);
    console.log(`${moved} bytes moved, ${FIRST_VISIT_BYTES} said, shown: ${shown.join(", ")}`);
    expect(Math.abs(moved / FIRST_VISIT_BYTES - 1)).toBeLessThan(0.1);
    for (const total of shown) {
      expect(Math.abs((Number.parseFloat(total) * 1e6) / moved - 1)).toBeLessThan(0.1);
    }
    const brotli = await Promise.all(
      ["pyodide-*/*", "numpy-*/*", "six-*/*", "worker-*/*", "chainer-7.8.1-*/*"].map(
        async (pattern) => {
          let sum = 0;
          for await (const file of glob(join(ROOT, `build/runtime/${pattern}.br`))) {
            sum += (await stat(file)).size;
          }
          return sum;
        },
      ),
    );
    const overHttps = brotli.reduce((sum, bytes) => sum + bytes, 0);
    console.log(`${overHttps} bytes by Brotli`);
    expect(Math.abs(overHttps / FIRST_VISIT_BYTES - 1)).toBeLessThan(0.1);
    await server.api(`/api/studies/${study}/cancel`, { method: "POST" });
  } finally {
    await proxy.close();
  }
});
