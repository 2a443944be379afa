// Tests that work survives people: with a real server and a real Chromium as a phone, each trial of one study is interrupted
// in another way. What was computed since the last checkpoint is the most that may be lost, and each result counts once.

import type { BrowserContext, Page } from "playwright-core";
import { devices } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { CutProxy } from "./cut_proxy.ts";
import {
  crash,
  queueStudy,
  Server,
  type StudyRow,
  type TrialRow,
  tapStart,
  until,
} from "./stack.ts";

/** How often each trial is left until it ends, in the order of the tests. */
const LEAVES = [2, 2, 2, 11, 2, 1, 1, 1, 1, 1, 1, 1, 2];
/** The trials that save nothing: they end while the line is cut. */
const WITHOUT_SAVES = [10, 11];
// Long enough that a busy machine renews it in time.
const LEASE_MS = 12_000;

let server: Server;
let proxy: CutProxy;
let browser: Awaited<ReturnType<typeof launchChromium>>;
let context: BrowserContext;
let page: Page;
let study: number;
let trial = -1;
/** The last step that the server has stored in a checkpoint, in the running trial. */
let savedStep = 0;
let saves = 0;

interface Device {
  plug(charging: boolean): void;
}

beforeAll(async () => {
  const args = ["--lease-ms", String(LEASE_MS), "--heartbeat-ms", "1000"];
  server = await Server.start({ args });
  proxy = await CutProxy.start(server.compute);
  browser = await launchChromium();
  context = await browser.newContext({ ...devices["Pixel 7"], locale: "en-US" });
  await context.addInitScript(() => {
    const battery = Object.assign(new EventTarget(), { charging: true, level: 0.9 });
    Object.defineProperty(navigator, "getBattery", { value: async () => battery });
    const device: Device = {
      plug: (charging) => {
        battery.charging = charging;
        battery.dispatchEvent(new Event("chargingchange"));
      },
    };
    Object.assign(globalThis, { device });
  });
  context.on("response", (response) => {
    const url = new URL(response.url());
    if (!url.pathname.includes("/checkpoints/") || !response.ok()) return;
    savedStep = Number(url.searchParams.get("step"));
    saves += 1;
  });
  study = await queueStudy(server, [
    "tests/e2e/objectives/interrupted.py",
    "--leaves",
    ...LEAVES.map(String),
    "--without-saves",
    ...WITHOUT_SAVES.map(String),
  ]);
  page = await open();
  await page.locator(".limits summary").click();
  await page.locator("[name=only_charging]").check();
  await tapStart(page);
});

afterAll(async () => {
  await browser?.close();
  await proxy?.close();
  await server?.dispose();
});

beforeEach(async () => {
  trial += 1;
  savedStep = 0;
  await untilSteps(5);
});

async function open(): Promise<Page> {
  const opened = await context.newPage();
  await opened.goto(await server.joinUrl(proxy.origin));
  return opened;
}

const phase = (name: string) => page.locator(`.panel[data-phase="${name}"]`).waitFor();
const title = (text: string) => page.locator(".panel-title", { hasText: text }).waitFor();

const row = () => server.api<TrialRow>(`/api/studies/${study}/trials/${trial}`);
const attempts = async () => (await row()).attempts_list ?? [];
// The server makes a trial only when it is leased.
const lastStep = async () => (await row().catch(() => null))?.points?.at(-1)?.[0] ?? 0;

const untilSteps = (steps: number) =>
  until(`step ${steps} of trial ${trial}`, async () => (await lastStep()) >= steps);

/** Waits until the trial makes no steps, as far as the server hears, or until `isOver`. */
async function untilStill(isOver = async () => false): Promise<void> {
  let seen = await lastStep();
  let since = Date.now();
  await until("a trial that rests", async () => {
    if (await isOver()) return true;
    const now = await lastStep();
    if (now !== seen) {
      seen = now;
      since = Date.now();
    }
    return Date.now() - since > 2_500;
  });
}

const show = (state: "visible" | "hidden") =>
  page.evaluate((now) => {
    Object.defineProperty(document, "visibilityState", { value: now, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

async function glance(): Promise<void> {
  await show("hidden");
  await phase("paused");
  await show("visible");
}

/** Leaves the page and comes back until `isDone`, without a connection, so that no other trial begins. */
async function leaveUntil(what: string, isDone: () => Promise<boolean>): Promise<void> {
  await until(what, async () => {
    if (await isDone()) return true;
    await glance();
    return false;
  });
}

/** Leaves the page and comes back until the trial is complete. The next trial does not begin while the page is hidden. */
async function leaveUntilComplete(): Promise<void> {
  await until("the trial's end", async () => {
    if (await isComplete()) return true;
    await show("hidden");
    await untilStill(isComplete);
    await show("visible");
    // A trial that makes so many steps does not end by this leave.
    const at = await lastStep();
    const goesOn = async () => (await isComplete()) || (await lastStep()) > at + 20;
    await until("the end or further steps", goesOn);
    return false;
  });
}

const isComplete = async () => (await row()).state === "complete";

/** Lets the trial end, and checks that it counts once. Returns its attempts. */
async function finish(): Promise<NonNullable<TrialRow["attempts_list"]>> {
  await leaveUntilComplete();
  const { values, attempts_list = [], points = [] } = await row();
  const accepted = attempts_list.filter(({ state }) => state === "accepted");
  expect(accepted).toHaveLength(1);
  const began = accepted[0]?.resumed_step ?? 0;
  // The curve has each step once, so no step of the accepted result was lost or counted twice.
  expect(points.map(([step]) => step)).toEqual(points.map((_, index) => index + 1));
  expect(values).toEqual([points.length - began]);
  return attempts_list;
}

/** The trial was only kept in memory, and nothing was lost. */
async function expectKept(): Promise<void> {
  expect(await finish()).toHaveLength(1);
}

/** The trial went on from its last checkpoint, in a second attempt on the same device. */
async function expectResumed(from: number): Promise<void> {
  const list = await finish();
  expect(list.length, JSON.stringify(list, null, 1)).toBe(2);
  const [first, second] = [...list].sort((a, b) => a.attempt - b.attempt);
  expect(second?.resumed_step ?? 0).toBe(from);
  expect(second?.device.device).toBe(first?.device.device);
}

/** Nothing on the page blames the browser or its memory for the end of the last visit. */
async function expectNoCrashNote(): Promise<void> {
  await phase("idle");
  expect(await page.evaluate(() => localStorage.getItem("hyperflock.running"))).toBeNull();
  expect(await page.locator(".panel-advice").count()).toBe(0);
}

const untilSaved = async () => {
  const before = saves;
  await until("a checkpoint", async () => saves > before);
};

test("a glance at a message", async () => {
  await show("hidden");
  await untilStill();
  await show("visible");
  await phase("computing");
  await untilSteps((await lastStep()) + 1);
  await expectKept();
});

test("a pause by the button", async () => {
  await page.locator("[data-action=pause]").click();
  await title("Paused");
  await untilStill();
  await page.locator("[data-action=resume]").click();
  await phase("computing");
  await expectKept();
});

test("a pause by a limit", async () => {
  const plug = (charging: boolean) =>
    page.evaluate((on) => (globalThis as unknown as { device: Device }).device.plug(on), charging);
  await plug(false);
  await title("Paused: not charging");
  await untilStill();
  await plug(true);
  await phase("computing");
  await expectKept();
});

test("a phone call and back, ten times", async () => {
  for (let call = 0; call < 10; call += 1) await glance();
  await expectKept();
});

test("a page that the browser freezes and lets go on", async () => {
  // Chromium's own freeze stops Playwright, too, so only its events come.
  const lifecycle = (name: string) =>
    page.evaluate((type) => document.dispatchEvent(new Event(type)), name);
  await lifecycle("freeze");
  await untilStill();
  await lifecycle("resume");
  await phase("computing");
  await expectKept();
});

test("a reload", async () => {
  await untilSaved();
  const saved = savedStep;
  await page.reload();
  await expectNoCrashNote();
  await tapStart(page);
  await phase("computing");
  await expectResumed(saved);
});

test("Back", async () => {
  await untilSaved();
  const saved = savedStep;
  await page.goto("about:blank");
  await page.goBack();
  await expectNoCrashNote();
  await tapStart(page);
  await phase("computing");
  await expectResumed(saved);
});

test("a tab that crashes", async () => {
  await untilSaved();
  const saved = savedStep;
  await crash({ context, page });
  await page.close();
  page = await open();
  // This one is a crash, and the page says so.
  await page.locator(".panel-advice").waitFor();
  await tapStart(page);
  await phase("computing");
  await expectResumed(saved);
});

test("a server that is gone for longer than a lease", async () => {
  await server.kill("SIGKILL");
  const goneAt = Date.now();
  await until("a lease", async () => Date.now() - goneAt > LEASE_MS);
  await server.restart();
  await expectKept();
});

test("a line that is cut for longer than a lease", async () => {
  await untilSaved();
  const saved = savedStep;
  proxy.cut();
  await until("the lost lease", async () => (await attempts()).every((a) => a.state !== "live"));
  proxy.mend();
  await expectResumed(saved);
});

test("a result that is ready while the line is cut", async () => {
  proxy.cut();
  const isWaiting = async () => (await page.locator('[data-phase="delivering"]').count()) > 0;
  await leaveUntil("the finished trial", isWaiting);
  proxy.mend();
  await until("the delivery", isComplete);
  await expectKept();
});

test("a result that is ready while the line is cut, and a reload", async () => {
  proxy.cut();
  const isWaiting = async () => (await page.locator('[data-phase="delivering"]').count()) > 0;
  await leaveUntil("the finished trial", isWaiting);
  proxy.mend();
  await page.reload();
  await expectNoCrashNote();
  await tapStart(page);
  await until("the delivery", isComplete);
  await expectKept();
});

test("a page that stays hidden for too long", async () => {
  await show("hidden");
  await untilSaved();
  const saved = savedStep;
  await until("the return", async () => (await attempts())[0]?.state === "released");
  await show("visible");
  await expectResumed(saved);
  const { state, complete, failed } = await server.api<StudyRow>(`/api/studies/${study}`);
  expect({ state, complete, failed }).toEqual({
    state: "finished",
    complete: LEAVES.length,
    failed: 0,
  });
});
