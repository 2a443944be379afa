// Measures how long volunteers wait and how much they download, for benchmarks. A round visits the join page twice
// with one new browser profile: first with nothing kept (cold), and then in a new tab (warm).

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";
import { CHROMIUM_FLAGS, chromiumPath } from "../../../worker-runtime/node/chromium.ts";
import type { CountingProxy, Transfer } from "../counting_proxy.ts";
import {
  openVolunteer,
  queueStudy,
  type Server,
  type TrialRow,
  tapStart,
  until,
} from "../stack.ts";

export interface Visit {
  /** From the tap on Start to the time that the trial's value says. */
  readonly seconds: number;
  readonly transfers: readonly Transfer[];
}

export interface Visits {
  readonly cold: readonly Visit[];
  readonly warm: readonly Visit[];
}

/** A script that queues a study of one trial, whose value is a Unix time in ms. */
type Script = readonly string[];

async function visit(
  server: Server,
  proxy: CountingProxy,
  context: BrowserContext,
  script: Script,
): Promise<Visit> {
  const study = await queueStudy(server, script);
  const joinUrl = await server.joinUrl(proxy.origin);
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

/** Measures some rounds and prints each. */
export async function visits(
  server: Server,
  proxy: CountingProxy,
  rounds: number,
  scripts: { readonly cold: Script; readonly warm: Script },
): Promise<Visits> {
  const cold: Visit[] = [];
  const warm: Visit[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const profile = await mkdtemp(join(tmpdir(), "hyperflock-profile-"));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: chromiumPath(),
      args: [...CHROMIUM_FLAGS],
      locale: "en-US",
      viewport: { width: 390, height: 844 },
    });
    try {
      cold.push(await visit(server, proxy, context, scripts.cold));
      warm.push(await visit(server, proxy, context, scripts.warm));
    } finally {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    }
    const [first, second] = [cold.at(-1), warm.at(-1)].map((one) => one?.seconds.toFixed(2));
    console.log(`round ${round}: cold ${first} s, warm ${second} s`);
  }
  return { cold, warm };
}

export const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** Returns the bytes of the transfers whose path passes a test. */
export const bytesOf = (
  { transfers }: Visit,
  isCounted: (path: string) => boolean = () => true,
): number => transfers.filter((t) => isCounted(t.path)).reduce((sum, t) => sum + t.bytes, 0);

/** Writes a benchmark's report. A figure is a name, a value, its unit and the highest value that is good. */
export async function writeReport(
  path: string,
  name: string,
  figures: readonly (readonly [name: string, value: number, unit: string, goal: number])[],
): Promise<void> {
  const report = {
    name,
    machine: {
      cpu: cpus()[0]?.model,
      cores: cpus().length,
      memory_gb: Math.round(totalmem() / 2 ** 30),
    },
    figures: figures.map(([figure, value, unit, goal]) => ({
      name: figure,
      value,
      unit,
      op: "<=",
      goal,
      peer: null,
    })),
  };
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
}
