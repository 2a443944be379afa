// ./run bench first_compute measures how long a volunteer waits and how much is downloaded. The time begins with the
// tap on Start and ends with the first optimizer.update in the page, which the objective measures. It is measured five
// times with a new browser profile (cold), and five times with a new tab of the same profile (warm). The bytes of both
// visits are counted.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { type BrowserContext, chromium } from "playwright-core";
import { CHROMIUM_FLAGS, chromiumPath } from "../../worker-runtime/node/chromium.ts";
import { CountingProxy, type Transfer } from "./counting_proxy.ts";
import { openVolunteer, queueStudy, Server, type TrialRow, tapStart, until } from "./stack.ts";

const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: "build/reports/first_compute.json" },
    rounds: { type: "string", default: "5" },
  },
});
const rounds = Number(options.rounds);

const server = await Server.start();
const proxy = await CountingProxy.start(server.compute);
const joinUrl = await server.joinUrl(proxy.origin);

interface Visit {
  readonly seconds: number;
  readonly transfers: readonly Transfer[];
}

async function visit(context: BrowserContext): Promise<Visit> {
  const study = await queueStudy(server, ["tests/e2e/objectives/first_update.py"]);
  proxy.take();
  const { page } = await openVolunteer(context, joinUrl);
  const tap = Date.now();
  await tapStart(page);
  const trial = await until("the first trial", async () => {
    const { trials } = await server.api<{ trials: TrialRow[] }>(`/api/studies/${study}/trials`);
    return trials[0];
  });
  if (trial.state !== "complete") throw new Error(trial.error?.traceback ?? trial.state);
  await page.close();
  return { seconds: ((trial.values[0] ?? Number.NaN) - tap) / 1000, transfers: proxy.take() };
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
const isAsset = (path: string): boolean => path.startsWith("/runtime/") || path.startsWith("/app/");
const assetBytes = (transfers: readonly Transfer[]): number =>
  transfers
    .filter((t) => isAsset(t.path) && t.path !== "/runtime/index.json")
    .reduce((sum, t) => sum + t.bytes, 0);

const cold: Visit[] = [];
const warm: Visit[] = [];
try {
  for (let round = 0; round < rounds; round += 1) {
    const profile = await mkdtemp(join(tmpdir(), "hyperflock-profile-"));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: chromiumPath(),
      args: [...CHROMIUM_FLAGS],
      locale: "en-US",
      viewport: { width: 390, height: 844 },
    });
    try {
      cold.push(await visit(context));
      warm.push(await visit(context));
    } finally {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    }
    console.log(
      `round ${round + 1}: cold ${cold.at(-1)?.seconds.toFixed(2)} s, warm ${warm.at(-1)?.seconds.toFixed(2)} s`,
    );
  }
} finally {
  await proxy.close();
  await server.dispose();
}

const total = (v: Visit): number => v.transfers.reduce((sum, t) => sum + t.bytes, 0);
const figures = [
  ["first_compute_cold_s", median(cold.map((v) => v.seconds)), "s", 25],
  ["first_compute_warm_s", median(warm.map((v) => v.seconds)), "s", 8],
  ["first_visit_mb", median(cold.map(total)) / 1e6, "MB", 12],
  ["warm_visit_asset_bytes", Math.max(...warm.map((v) => assetBytes(v.transfers))), "B", 0],
] as const;
const report = {
  name: "first_compute",
  machine: {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
  },
  figures: figures.map(([name, value, unit, goal]) => ({
    name,
    value,
    unit,
    op: "<=",
    goal,
    peer: null,
  })),
};
await mkdir(dirname(options.out), { recursive: true });
await writeFile(options.out, `${JSON.stringify(report, null, 2)}\n`);
