// Tests Optuna studies in the browsers of two volunteers. One browser is not isolated, so its Python waits by JSPI
// (JavaScript Promise Integration). The study's own sampler suggests values and its own pruner prunes. Attributes and
// errors reach the researcher's process. A trial whose browser is killed continues in another one and gives the same
// numbers as an uninterrupted trial. Real Chromium.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { CountingProxy } from "./counting_proxy.ts";
import {
  crash,
  joinVolunteer,
  type PythonRun,
  runPython,
  Server,
  type StudyRow,
  type TrialRow,
  until,
  type Volunteer,
} from "./stack.ts";

interface Told {
  readonly state: "COMPLETE" | "PRUNED" | "FAIL";
  readonly params: { readonly x: number; readonly shape: string; readonly slope?: number };
  readonly value: string;
  readonly steps: readonly number[];
  readonly user: Readonly<Record<string, unknown>>;
  readonly constraint: number;
}

let server: Server;
let browser: Browser;
let proxy: CountingProxy;
let volunteers: Volunteer[];

beforeAll(async () => {
  server = await Server.start({ args: ["--lease-ms", "4000", "--heartbeat-ms", "500"] });
  const isolation = ["cross-origin-opener-policy", "cross-origin-embedder-policy"];
  proxy = await CountingProxy.start(server.compute, isolation);
  browser = await launchChromium();
  volunteers = [
    await joinVolunteer(browser, await server.joinUrl()),
    await joinVolunteer(browser, await server.joinUrl(proxy.origin)),
  ];
});
afterAll(async () => {
  await browser?.close();
  await proxy?.close();
  await server?.dispose();
});

/** Waits until both volunteers are idle, then starts a script. So each volunteer gets one of the first two trials. */
async function optimize(script: string): Promise<PythonRun> {
  await until("two idle devices", async () => {
    const { workers } = await server.api<{ workers: { state: string }[] }>("/api/workers");
    return workers.filter(({ state }) => state === "idle").length === 2;
  });
  return runPython(server, [`tests/e2e/objectives/${script}`]);
}

async function told<T>(run: PythonRun): Promise<T> {
  expect(await run.done, run.output()).toBe(0);
  return JSON.parse(run.output().trim().split("\n").at(-1) ?? "") as T;
}

const trialsOf = async (study: number, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, trial) =>
      server.api<TrialRow>(`/api/studies/${study}/trials/${trial}`),
    ),
  );

test("a study ends as it would on the researcher's machine", async () => {
  const isolated = volunteers.map(({ page }) => page.evaluate(() => crossOriginIsolated));
  expect(await Promise.all(isolated)).toEqual([true, false]);
  const trials = await told<Told[]>(await optimize("optuna_study.py"));

  // The trials have the enqueued values, in order: first four good trials, then three bad ones and one that raises.
  expect(trials.map(({ params }) => params.x)).toEqual([1, -1, 1, 0.5, 8, 8, 8, 9]);
  const good = Array<string>(4).fill("COMPLETE");
  const bad = Array<string>(3).fill("PRUNED");
  expect(trials.map(({ state }) => state)).toEqual([...good, ...bad, "FAIL"]);
  for (const { params, user, constraint, state, steps, value } of trials) {
    const { x, shape, slope } = params;
    const isSquare = shape === "square";
    // The search space depends on the shape: a trial with the shape `square` does not suggest a slope.
    expect(slope === undefined).toBe(isSquare);
    expect(user).toEqual({ origin: "by hand", seen: `by hand ${shape}` });
    const height = isSquare ? x * x : Number(slope) * Math.abs(x);
    expect(constraint).toBe(height - 50);
    if (state === "COMPLETE") {
      expect(steps).toEqual([0, 1, 2, 3, 4]);
      expect(value).toBe(x === -1 ? "inf" : "1.0");
    }
    // The researcher's pruner stopped the trial after its first report, so it reported no further step.
    if (state === "PRUNED") expect(steps).toEqual([0]);
  }

  const study = await server.newestStudy();
  expect(study).toMatchObject({
    state: "finished",
    total: 8,
    complete: 4,
    failed: 1,
  } satisfies Partial<StudyRow>);
  const rows = await trialsOf(study?.study ?? 0, trials.length);
  const devices = rows.flatMap((row) => row.attempts_list?.map(({ device }) => device.device));
  expect(new Set(devices).size, "both took part").toBe(2);
  expect(rows.at(-1)?.error).toMatchObject({ cause: "user_error", code: "objective_raised" });
  for (const { errors } of volunteers) expect(errors).toEqual([]);
});

test("what a trial uploads comes into the study's own artifact store", async () => {
  type Left = readonly [x: number, id: string, name: string, isRight: boolean];
  const left = await told<Left[]>(await optimize("optuna_artifacts.py"));
  expect(left.map(([x, , name, isRight]) => [x, name, isRight])).toEqual([
    [2, "weights & more.npz", true],
    [3, "weights & more.npz", true],
  ]);
  const { study } = (await server.newestStudy()) ?? { study: 0 };
  const { artifacts } = await server.api<{ artifacts: Record<string, unknown>[] }>(
    `/api/studies/${study}/artifacts`,
  );
  expect(artifacts.map(({ id }) => id).sort()).toEqual(left.map(([, id]) => id).sort());
  // Each file has 100,000 numbers of 8 bytes, in a zip archive.
  for (const { bytes } of artifacts) expect(bytes).toBeGreaterThan(800_000);
});

test("a trial whose browser is killed ends on another with the very numbers of an unbroken one", async () => {
  const run = await optimize("optuna_resuming.py");
  const study = await until("the study", async () => {
    const newest = await server.newestStudy();
    return newest?.name === "resuming" && newest.study;
  });
  const path = `/api/studies/${study}/trials`;
  await until("the stop, behind a checkpoint, and the other trial's end", async () => {
    const { lines } = await server
      .api<{ lines: { text: string }[] }>(`${path}/1/log`)
      .catch(() => ({ lines: [] }));
    const { complete } = await server.api<StudyRow>(`/api/studies/${study}`);
    return complete === 1 && lines.some(({ text }) => text === "stopped");
  });
  const computing = await until("the tab that computes alone", async () => {
    const panels = volunteers.map(({ page }) => page.locator('.panel[data-phase="computing"]'));
    const counts = await Promise.all(panels.map((panel) => panel.count()));
    return counts.filter((count) => count > 0).length === 1 && volunteers[counts.indexOf(1)];
  });
  await crash(computing);

  type Curve = Readonly<Record<string, number>>;
  const [unbroken, broken] = await told<[number, Curve][]>(run);
  expect(Object.keys(unbroken?.[1] ?? {})).toHaveLength(6);
  expect(broken).toEqual(unbroken);
  const [, row] = await trialsOf(study, 2);
  const [killed, resumed] = row?.attempts_list ?? [];
  expect(killed).toMatchObject({ state: "expired" });
  expect(resumed).toMatchObject({
    state: "accepted",
    resumed_from: killed?.attempt,
    resumed_step: 3,
  });
  expect(resumed?.device.device).not.toBe(killed?.device.device);
  expect(resumed?.device).toMatchObject({ backend: "cpu" });
});
