// ./run bench study_page measures what the researcher's page of a large study costs: the bytes that it reads and the time
// of its thread until the first picture, and until all trials are there; then how long it computes for a sort, a filter and
// each view. Times are of the page's thread, so a busy machine changes them little. It uses a real server, devices that
// report, and headless Chromium.

import { mkdir, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import type { CDPSession, Page } from "playwright-core";
import { launchChromium } from "../../../worker-runtime/node/chromium.ts";
import { computeAll, resultOf } from "../device.ts";
import { queueStudy, Server, until } from "../stack.ts";

const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: "build/reports/study_page.json" },
    trials: { type: "string", default: "100000" },
    devices: { type: "string", default: "48" },
  },
});
const TRIALS = Number(options.trials);
const VIEWS = ["slice", "importance", "contour", "rank", "edf", "timeline", "parallel"] as const;
/** The bars: what the first view may read and take, and what an answer to the reader may take. */
const FIRST_KB = 500;
const FIRST_S = 2;
const ANSWER_MS = 100;
const TAB_MB = 300;
const PATIENCE_MS = 600_000;

/** Completes a trial with a value. */
const valued = (attempt: number, trial: number) => [
  resultOf(attempt, Math.abs(Math.sin(trial * 12.9898)) + 1e-3, { next: true }),
];

/** The seconds that the page's thread has worked, and the bytes of its heap. */
async function spent(session: CDPSession): Promise<{ seconds: number; heap: number }> {
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name: string) => metrics.find((one) => one.name === name)?.value ?? Number.NaN;
  return { seconds: of("TaskDuration"), heap: of("JSHeapUsedSize") };
}

/** Returns how many milliseconds the page's thread works for an action, until what follows from it is drawn. */
async function cost(
  page: Page,
  session: CDPSession,
  action: () => Promise<unknown>,
  done: () => Promise<unknown>,
): Promise<number> {
  const before = (await spent(session)).seconds;
  await action();
  await done();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
  return 1_000 * ((await spent(session)).seconds - before);
}

await mkdir(dirname(options.out), { recursive: true });
const server = await Server.start({ args: ["--log-level", "warning"] });
const browser = await launchChromium();
const costs = new Map<string, number>();
let first = { kilobytes: 0, seconds: 0, requests: 0 };
let whole = { kilobytes: 0, seconds: 0, requests: 0, heap: 0 };
try {
  const study = await queueStudy(server, [
    "tests/e2e/objectives/five_parameters.py",
    ...["--trials", String(TRIALS)],
  ]);
  await Promise.all(
    Array.from({ length: Number(options.devices) }, () => computeAll(server, valued)),
  );
  await until("the end of the study", async () => {
    const { state } = await server.api<{ state: string }>(`/api/studies/${study}`);
    return state === "finished";
  });
  const { researcher_token } = await server.credentials();
  const context = await browser.newContext({
    ...{ locale: "en-US", viewport: { width: 1280, height: 900 } },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await session.send("Network.enable");
  let [bytes, requests] = [0, 0];
  session.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  await page.goto(`${server.console}/research`);
  await page.locator("#token").fill(researcher_token);
  await page.locator("[data-action=sign_in]").click();
  await page.locator(".study-link").first().waitFor();
  const start = { bytes, requests, ...(await spent(session)) };
  const since = async () => {
    const { seconds, heap } = await spent(session);
    return {
      kilobytes: (bytes - start.bytes) / 1_000,
      ...{ seconds: seconds - start.seconds, requests: requests - start.requests, heap },
    };
  };
  await page.locator(".study-link").first().click();
  await page.locator("[data-values]").waitFor();
  first = await since();
  await page.locator(`[data-values="${TRIALS}"]`).waitFor();
  whole = await since();

  const go = (part: string) => page.locator(`[data-part-link=${part}]`).click();
  await go("trials");
  await page.locator("[role=grid]").waitFor();
  const column = page.locator('[data-column="value:0"]');
  const sorted = page.locator('[role=columnheader][aria-sort="ascending"]', { has: column });
  const sort = () =>
    cost(
      page,
      session,
      () => column.click(),
      () => sorted.waitFor(),
    );
  costs.set("sort", await sort());
  const field = page.locator("[data-action=expression]");
  const isFiltered = () =>
    page.waitForFunction(
      (all) => document.querySelector("[data-matching]")?.getAttribute("data-matching") !== all,
      String(TRIALS),
    );
  costs.set("filter", await cost(page, session, () => field.fill("value < 0.5"), isFiltered));
  await field.fill("");
  await page.locator(`[data-matching="${TRIALS}"]`).waitFor();
  for (const view of VIEWS) {
    const drawn = () => page.locator(`[data-part=${view}] [data-plot]`).first().waitFor();
    costs.set(`view_${view}`, await cost(page, session, () => go(view), drawn));
  }
  // One movement of the pointer along an axis of the parallel coordinates, which is the last of the views.
  const grip = await page.locator('[data-grip="param:momentum"]').boundingBox();
  if (grip === null) throw new Error("the axis is not shown");
  const x = grip.x + grip.width / 2;
  await page.mouse.move(x, grip.y + grip.height / 2);
  await page.mouse.down();
  const brush = () => page.mouse.move(x, grip.y + grip.height / 4);
  costs.set("brush", await cost(page, session, brush, isFiltered));
  await page.mouse.up();
} finally {
  await browser.close();
  await server.dispose();
}

const figure = (name: string, value: number, unit: string, goal: number | null = null) => ({
  ...{ name: `study_page_${name}`, value, unit, goal },
  ...{ op: "<=", peer: null },
});
const report = {
  name: "study_page",
  machine: {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    trials: TRIALS,
    devices: Number(options.devices),
  },
  figures: [
    figure("first_view_kilobytes", first.kilobytes, "kB", FIRST_KB),
    figure("first_view_thread", first.seconds, "s", FIRST_S),
    figure("all_trials_kilobytes", whole.kilobytes, "kB"),
    figure("all_trials_requests", whole.requests, "requests"),
    figure("all_trials_thread", whole.seconds, "s"),
    figure("all_trials_heap", whole.heap / 1e6, "MB", TAB_MB),
    ...[...costs].map(([name, ms]) => figure(name, ms, "ms", ANSWER_MS)),
  ],
};
await writeFile(options.out, `${JSON.stringify(report, null, 2)}\n`);
for (const { name, value, unit } of report.figures)
  console.log(`${name} ${value.toFixed(2)} ${unit}`);
