// ./run bench series_page measures how long the researcher's page needs to open a study of 1,000 trials with 10 logged
// series each: from the click on the study to the first chart of a series, and to the tenth. It uses a real server, a
// device that reports, and headless Chromium.

import { mkdir, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { computeAll, resultOf } from "./device.ts";
import { queueStudy, Server, until } from "./stack.ts";

const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: "build/reports/series_page.json" },
    trials: { type: "string", default: "1000" },
    rows: { type: "string", default: "100" },
    rounds: { type: "string", default: "3" },
  },
});
const TRIALS = Number(options.trials);
const ROWS = Number(options.rows);
const SERIES = 10;
const GOAL_S = 2;

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

function seriesOf(trial: number): object {
  const steps = Array.from({ length: ROWS }, (_, i) => 10 * i);
  const columns = Array.from({ length: SERIES }, (_, n) => [
    `series/${n}`,
    steps.map((step) => Math.exp(-step / 300) + Math.sin(trial * 7 + n + step) / 10),
  ]);
  return { steps, columns };
}

/** Logs all series of a trial, and completes it. */
const logged = (attempt: number, trial: number) => [
  { type: "report", attempt, seq: 1, points: [], series: seriesOf(trial) },
  resultOf(attempt, Math.sin(trial), { seq: 2, next: true }),
];

await mkdir(dirname(options.out), { recursive: true });
const server = await Server.start({ args: ["--log-level", "warning"] });
const browser = await launchChromium();
const first: number[] = [];
const all: number[] = [];
let bytes = 0;
try {
  const study = await queueStudy(server, [
    "tests/e2e/objectives/constant.py",
    ...["--trials", String(TRIALS)],
  ]);
  await computeAll(server, logged);
  await until("the end of the study", async () => {
    const { state } = await server.api<{ state: string }>(`/api/studies/${study}`);
    return state === "finished";
  });
  const { researcher_token } = await server.credentials();
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const context = await browser.newContext({
      locale: "en-US",
      viewport: { width: 1280, height: 900 },
    });
    const page = await context.newPage();
    await page.goto(`${server.console}/research`);
    await page.locator("#token").fill(researcher_token);
    await page.locator("[data-action=sign_in]").click();
    await page.locator(".study-link").first().waitFor();
    page.on("response", async (response) => {
      if (response.url().includes("/series/")) bytes += (await response.body()).length;
    });
    const begun = performance.now();
    await page.locator(".study-link").first().click();
    await page.locator("[data-part-link=series]").click();
    // A chart loads once it is near the visible part of the page. The first chart may be below that part.
    await page.locator("[data-series]").first().scrollIntoViewIfNeeded();
    await page.locator("[data-part=series] svg").first().waitFor();
    first.push((performance.now() - begun) / 1000);
    await page.locator("[data-series]").last().scrollIntoViewIfNeeded();
    for (let n = 0; n < SERIES; n += 1)
      await page.locator(`[data-series="series/${n}"] svg`).waitFor();
    all.push((performance.now() - begun) / 1000);
    await context.close();
  }
} finally {
  await browser.close();
  await server.dispose();
}

const figure = (name: string, value: number, unit: string, goal: number | null = null) => ({
  ...{ name, value, unit, goal },
  ...{ op: "<=", peer: null },
});
const report = {
  name: "series_page",
  machine: {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    trials: TRIALS,
    series: SERIES,
    rows: ROWS,
  },
  figures: [
    figure("series_page_first_chart", median(first), "s", GOAL_S),
    figure("series_page_all_charts", median(all), "s", GOAL_S),
    figure("series_page_kilobytes", bytes / first.length / 1000, "kB"),
  ],
};
await writeFile(options.out, `${JSON.stringify(report, null, 2)}\n`);
for (const { name, value, unit } of report.figures)
  console.log(`${name} ${value.toFixed(2)} ${unit}`);
