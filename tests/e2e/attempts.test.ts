// Tests that another device resumes a trial from its checkpoint when the first device disappears. Also tests that a
// trial fails after it has crashed the renderers of three devices, while another study finishes. Real Chromium.

import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import {
  crash,
  joinVolunteer,
  queueStudy,
  Server,
  type StudyRow,
  type TrialRow,
  until,
} from "./stack.ts";

const DEVICES_TO_POISON = 3;

let server: Server;
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});
afterEach(async () => {
  await server.dispose();
});
afterAll(async () => {
  await browser.close();
});

const queue = (script: string, ...options: string[]) =>
  queueStudy(server, [`tests/e2e/objectives/${script}`, ...options]);

const finished = (study: number) =>
  until("the end of the study", async () => {
    const { state } = await server.api<StudyRow>(`/api/studies/${study}`);
    return state === "finished" && server.api<TrialRow>(`/api/studies/${study}/trials/0`);
  });

test("a trial whose page is hidden goes on in another browser, with its curve and its lines", async () => {
  server = await Server.start();
  const study = await queue("resuming.py");
  const path = `/api/studies/${study}/trials/0`;
  const linesOf = async () => {
    const log = await server.api<{ lines: { attempt: number; text: string }[] }>(`${path}/log`);
    return log.lines.map(({ text }) => text);
  };
  const first = await joinVolunteer(browser, await server.joinUrl());
  await until("the first half", async () => (await linesOf()).includes("step 3"));
  // The checkpoint is committed before the objective continues and asks should_prune.
  await until("the checkpoint", async () => {
    const names = await readdir(join(server.state, "checkpoints"), { recursive: true });
    return names.some((name) => basename(name).length === 62);
  });
  await first.page.evaluate(() => window.dispatchEvent(new Event("pagehide")));
  const second = await joinVolunteer(browser, await server.joinUrl());
  const trial = await finished(study);
  expect(trial).toMatchObject({ state: "complete", values: [8] });
  expect(trial.points).toEqual(Array.from({ length: 8 }, (_, step) => [step, step]));
  const [stopped, resumed] = trial.attempts_list ?? [];
  expect(stopped).toMatchObject({ state: "released" });
  expect(resumed).toMatchObject({ resumed_from: stopped?.attempt, resumed_step: 3 });
  expect(resumed?.device.device).not.toBe(stopped?.device.device);
  expect(await linesOf()).toEqual(Array.from({ length: 8 }, (_, step) => `step ${step}`));
  // The second device's attempt keeps the attributes and files that the first one sent before the checkpoint. Those
  // that the first one sent later are dropped.
  expect(JSON.parse(trial.attrs ?? "{}").user).toEqual({ began: "here" });
  const { artifacts } = await server.api<{ artifacts: { name: string; attempt: number }[] }>(
    `/api/studies/${study}/artifacts`,
  );
  expect(artifacts.map(({ name, attempt }) => [name, attempt])).toEqual([
    ["before.txt", resumed?.attempt],
    ["end.txt", resumed?.attempt],
  ]);
  for (const { context } of [first, second]) await context.close();
});

test("three crashed renderers make a trial poison; a study beside it finishes", async () => {
  // A crashed device is noticed when its lease ends. The lease is short, and long enough for heartbeats from a tab on a
  // busy machine: if the lease of a device that did not crash ended, its trial would have one loss too many.
  server = await Server.start({ args: ["--lease-ms", "12000", "--heartbeat-ms", "500"] });
  const study = await queue("constant.py", "--endless");
  const joinUrl = await server.joinUrl();
  // The trial crashes all devices except one, which finishes the other study.
  let volunteers = await Promise.all(
    Array.from({ length: DEVICES_TO_POISON + 1 }, () => joinVolunteer(browser, joinUrl)),
  );
  const trial = () => server.api<TrialRow>(`/api/studies/${study}/trials/0`);
  for (let crashed = 0; crashed < DEVICES_TO_POISON; crashed += 1) {
    const computing = await until("a tab that computes", async () => {
      for (const volunteer of volunteers) {
        const panel = volunteer.page.locator('.panel[data-phase="computing"]');
        if ((await panel.count()) > 0) return volunteer;
      }
      return undefined;
    });
    await crash(computing);
    volunteers = volunteers.filter((volunteer) => volunteer !== computing);
    await until("the end of its lease", async () => {
      const lost = (await trial()).attempts_list?.filter(({ state }) => state === "expired");
      return (lost?.length ?? 0) > crashed;
    });
  }
  const row = await finished(study);
  expect(row).toMatchObject({ state: "failed", error: { cause: "worker_lost", code: "poison" } });
  expect(new Set(row.attempts_list?.map(({ device }) => device.device)).size).toBe(
    DEVICES_TO_POISON,
  );

  const beside = await queue("constant.py", "--trials", "2", "--wait");
  expect(await server.api<StudyRow>(`/api/studies/${beside}`)).toMatchObject({
    state: "finished",
    complete: 2,
  });
});
