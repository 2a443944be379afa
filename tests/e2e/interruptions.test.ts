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
const LEAVES = [2, 2, 2, 11, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2];
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
  // Animations would take more of the processor than the trials.
  const phone = { ...devices["Pixel 7"], locale: "en-US", reducedMotion: "reduce" } as const;
  context = await browser.newContext(phone);
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

/** Lets the trial end, and checks that it counts once. Returns its attempts, and the step with which the last one began. */
async function finish() {
  await leaveUntilComplete();
  const { values, attempts_list = [], points = [] } = await row();
  expect(attempts_list.filter(({ state }) => state === "accepted")).toHaveLength(1);
  // The curve has each step once, so no step of the accepted result was lost or counted twice.
  expect(points.map(([step]) => step)).toEqual(points.map((_, index) => index + 1));
  const attempts = attempts_list.toSorted((a, b) => a.attempt - b.attempt);
  return { attempts, began: points.length - (values?.[0] ?? 0) };
}

/** The trial was only kept in memory, and nothing was lost. */
async function expectKept(): Promise<void> {
  const { attempts, began } = await finish();
  expect({ attempts: attempts.length, began }).toEqual({ attempts: 1, began: 0 });
}

/**
 * The trial went on in a second attempt on the same device. The server's newest checkpoint was that of step `stored`. The
 * attempt began with step `from` or a later one, which it had if the device kept a newer checkpoint.
 */
async function expectResumed(stored: number, from = stored): Promise<void> {
  const { attempts, began } = await finish();
  expect(attempts.length, JSON.stringify(attempts, null, 1)).toBe(2);
  const [first, second] = attempts;
  expect(second?.resumed_step ?? 0).toBe(stored);
  expect(second?.device.device).toBe(first?.device.device);
  if (from === stored) expect(began).toBe(stored);
  else expect(began).toBeGreaterThanOrEqual(from);
}

/** Waits until the device keeps a checkpoint of a later step than the server's newest one. Returns the step. */
const untilKept = (stored: number) =>
  until("a checkpoint on the device", async () => {
    const step = await page.evaluate(async () => {
      const names = (await indexedDB.databases()).map(({ name }) => name);
      if (!names.includes("hyperflock.checkpoints")) return 0;
      const opening = indexedDB.open("hyperflock.checkpoints");
      return await new Promise<number>((resolve) => {
        opening.onsuccess = () => {
          const all = opening.result.transaction("heads").objectStore("heads").getAll();
          all.onsuccess = () => {
            opening.result.close();
            resolve(all.result[0]?.kept.step ?? 0);
          };
        };
      });
    });
    return step > stored && step;
  });

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
  // The page shows the newest value, which is the number of times that the trial has noticed.
  const noticed = async () => Number(await page.locator(".curve-head strong").textContent());
  for (let call = 1; call <= 10; call += 1) {
    await until(`call ${call}`, async () => {
      await glance();
      await phase("computing");
      return (await noticed()) >= call;
    });
  }
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
  const kept = await untilKept(saved);
  await until("the lost lease", async () => (await attempts()).every((a) => a.state !== "live"));
  proxy.mend();
  // Without the connection the trial would end by being left, and its late result would count.
  await until("the next attempt", async () => (await attempts()).length === 2);
  await expectResumed(saved, kept);
});

test("a line that is cut, and a reload", async () => {
  await untilSaved();
  const saved = savedStep;
  proxy.cut();
  const kept = await untilKept(saved);
  await page.goto("about:blank");
  await until("the lost lease", async () => (await attempts()).every((a) => a.state !== "live"));
  proxy.mend();
  await page.goBack();
  await expectNoCrashNote();
  await tapStart(page);
  await phase("computing");
  await expectResumed(saved, kept);
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
  await phase("computing");
  await expectResumed(saved);
  const { state, complete, failed } = await server.api<StudyRow>(`/api/studies/${study}`);
  expect({ state, complete, failed }).toEqual({
    state: "finished",
    complete: LEAVES.length,
    failed: 0,
  });
});
