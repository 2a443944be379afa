// Runs an Optuna study in real tabs, which are killed one after another: their renderer crashes, or they are closed.
// In the end every trial of the study counts exactly once. The environment variable KILLS is the number of kills, and
// SEED chooses their times and tabs. `./run chaos --optuna` runs this file.

import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import {
  crash,
  joinVolunteer,
  runPython,
  Server,
  type StudyRow,
  type TrialRow,
  until,
  type Volunteer,
} from "../e2e/stack.ts";
import { randomOf } from "./schedule.ts";

const TABS = 3;
const STEPS = 6;
/** If this many devices disappear while they compute a trial, it fails with the code `poison` (protocol.md, R18). */
const POISON = 3;
const kills = Number(process.env.KILLS || 50);
const seed = Number(process.env.SEED || 1);

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await Server.start({ args: ["--lease-ms", "4000", "--heartbeat-ms", "500"] });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

/** Waits until tabs compute, and chooses one of them at random. */
async function victimOf(tabs: readonly Volunteer[], random: () => number): Promise<Volunteer> {
  return until("a tab that computes", async () => {
    const panels = tabs.map(({ page }) => page.locator('.panel[data-phase="computing"]').count());
    const counts = await Promise.all(panels);
    const computing = tabs.filter((_, i) => (counts[i] ?? 0) > 0);
    return computing[Math.floor(random() * computing.length)];
  });
}

test(`${kills} tabs are killed and the study has exactly its trials`, async () => {
  const random = randomOf(seed);
  const trials = 4 * kills + 6;
  const joinUrl = await server.joinUrl();
  let tabs = await Promise.all(Array.from({ length: TABS }, () => joinVolunteer(browser, joinUrl)));
  const { researcher_token: token } = await server.credentials();
  const notebook = await runPython(server, [
    ...["python/tests/support/optuna_notebook.py", server.console, token, "-", "resumable"],
    ...["--trials", String(trials)],
  ]);
  const study = () => server.newestStudy();
  for (let kill = 0; kill < kills; kill += 1) {
    await until("progress", async () => {
      if (notebook.child.exitCode !== null) throw new Error(notebook.output());
      return ((await study())?.complete ?? -1) >= 3 * kill;
    });
    const victim = await victimOf(tabs, random);
    await sleep(300 * random());
    if (random() < 0.5) await crash(victim);
    await victim.context.close();
    tabs = [...tabs.filter((tab) => tab !== victim), await joinVolunteer(browser, joinUrl)];
  }
  expect(await notebook.done, notebook.output()).toBe(0);

  const told: [number, string, object, number[] | null][] = JSON.parse(
    notebook.output().trim().split("\n").at(-1) ?? "",
  );
  expect(told.map(([number]) => number)).toEqual(Array.from({ length: trials }, (_, i) => i));
  const row = await study();
  expect(row).toMatchObject({ state: "finished", total: trials } satisfies Partial<StudyRow>);
  let ended = 0;
  let resumed = 0;
  for (const [number, state, , values] of told) {
    const trial = await server.api<TrialRow>(`/api/studies/${row?.study}/trials/${number}`);
    const attempts = trial.attempts_list ?? [];
    const gone = attempts.filter(({ state }) => state === "expired" || state === "released");
    ended += gone.length;
    resumed += attempts.filter(({ resumed_from }) => resumed_from !== undefined).length;
    if (state === "FAIL") {
      expect(trial.error).toMatchObject({ cause: "worker_lost", code: "poison" });
      const lost = gone.filter(({ state }) => state === "expired");
      expect(new Set(lost.map(({ device }) => device.device)).size).toBe(POISON);
      continue;
    }
    expect([state, values]).toEqual(["COMPLETE", trial.values]);
    expect(attempts.filter(({ state }) => state === "accepted")).toHaveLength(1);
    // All attempts of the trial share one curve. Its last point is the trial's value.
    expect(trial.points?.map(([step]) => step)).toEqual(Array.from({ length: STEPS }, (_, i) => i));
    expect(trial.points?.at(-1)?.[1]).toBe(values?.[0]);
  }
  console.log(
    `${kills} tabs killed: ${trials} trials, ${ended} attempts ended early, ${resumed} went on from a checkpoint`,
  );
});
