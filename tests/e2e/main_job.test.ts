// The main job in the real parts: built server, real Chromium, real Pyodide and Chainer, the Python package.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Device, type LeaseMessage } from "./device.ts";
import {
  joinVolunteer,
  launchChromium,
  runPython,
  Server,
  type StudyRow,
  type TrialRow,
  until,
  type Volunteer,
} from "./stack.ts";

let server: Server;
let browser: Browser;
const volunteers: Volunteer[] = [];

async function volunteer(): Promise<Volunteer> {
  const joined = await joinVolunteer(browser, await server.joinUrl());
  volunteers.push(joined);
  return joined;
}

async function newestStudy(): Promise<StudyRow | undefined> {
  return (await server.api<{ studies: StudyRow[] }>("/api/studies")).studies[0];
}

async function trialsOf(study: number): Promise<readonly TrialRow[]> {
  return (await server.api<{ trials: TrialRow[] }>(`/api/studies/${study}/trials?limit=500`)).trials;
}

/** Every trial finished once, by one accepted attempt. */
async function expectExactlyOnce(study: number, total: number): Promise<void> {
  const row = await server.api<StudyRow>(`/api/studies/${study}`);
  expect(row).toMatchObject({ state: "finished", total, complete: total, failed: 0 });
  const trials = await trialsOf(study);
  expect(trials.map((trial) => trial.trial).sort((a, b) => a - b)).toEqual(
    Array.from({ length: total }, (_, number) => number),
  );
  for (const { trial } of trials) {
    const detail = await server.api<TrialRow>(`/api/studies/${study}/trials/${trial}`);
    const states = (detail.attempts_list ?? []).map((attempt) => attempt.state);
    expect(states.filter((state) => state === "accepted")).toHaveLength(1);
  }
}

beforeAll(async () => {
  // Short leases, so that a lost tab's trial is leased again within seconds.
  server = await Server.start({ args: ["--lease-ms", "6000", "--heartbeat-ms", "1000"] });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

describe("the main job", () => {
  test("a grid survives a closed tab and a killed server; each trial counts once", async () => {
    const [first] = [await volunteer(), await volunteer()];
    const study = await runPython(server, ["python/examples/digits_grid.py"]);
    const complete = async (count: number) =>
      until(`${count} complete trials`, async () => {
        const row = await newestStudy();
        return row !== undefined && row.complete >= count && row;
      }, 120_000);

    // Closed while it computes: the page says so, and then the tab is gone.
    await complete(1);
    await first.page.getByText(/computing|training/i).first().waitFor();
    await first.context.close();
    await volunteer();

    await complete(4);
    await server.kill("SIGKILL");
    await server.restart();

    expect(await study.done, study.output()).toBe(0);
    const row = await newestStudy();
    await expectExactlyOnce(row?.study ?? 0, 8);
    console.log(`8 trials took ${row?.attempts} attempts`);
    expect(row?.attempts).toBeGreaterThanOrEqual(8);
    expect(study.output()).toMatch(/best/i);
  });

  test("two devices deliver the same trial; one result counts, the other is evidence", async () => {
    const queued = await runPython(server, ["tests/e2e/objectives/constant.py", "--label", "late"]);
    // Browser volunteers would take the trial first.
    for (const { context } of volunteers.splice(0)) await context.close();
    expect(await queued.done, queued.output()).toBe(0);
    const study = Number(queued.output().trim().split("\n").at(-1));
    const leaseOf = async (device: Device): Promise<LeaseMessage> => {
      const lease = await device.lease();
      expect(lease.study).toBe(study);
      return lease;
    };

    const slow = await Device.join(server);
    const slowLease = await leaseOf(slow);
    // The first device falls silent until its lease has run out and the second is given the same trial.
    const fast = await Device.join(server);
    const fastLease = await leaseOf(fast);
    expect(fastLease.trial).toBe(slowLease.trial);
    expect(fastLease.attempt).not.toBe(slowLease.attempt);

    slow.result(slowLease, 1);
    expect(await slow.next("result_ack")).toMatchObject({ verdict: "accepted" });
    fast.result(fastLease, 2);
    expect(await fast.next("result_ack")).toMatchObject({ verdict: "evidence" });
    slow.result(slowLease, 1);
    expect(await slow.next("result_ack")).toMatchObject({ verdict: "accepted" });

    await expectExactlyOnce(study, 1);
    const [trial] = await trialsOf(study);
    expect(trial?.values).toEqual([1]);
    slow.close();
    fast.close();
  });
});

describe("results equal CPython's", () => {
  test.each(["7.8.1", "5.4.0"])("Chainer %s: points, weights, losses, accuracy", async (version) => {
    const joined = await volunteer();
    const run = await runPython(server, ["tests/e2e/objectives/parity.py", "--chainer", version]);
    expect(await run.done, run.output()).toBe(0);
    console.log(run.output().trim().split("\n").at(-1));
    await joined.context.close();
  });
});

describe("bad objectives", () => {
  test("NaN, an exception and an endless loop end with their codes; another study finishes beside them", async () => {
    await volunteer();
    await volunteer();
    const run = await runPython(server, ["tests/e2e/objectives/misbehaving.py"]);
    expect(await run.done, run.output()).toBe(0);
    console.log(run.output().trim());
  });

  test("a cancelled study stops a computing volunteer, who goes on with other work", async () => {
    const queued = await runPython(server, ["tests/e2e/objectives/constant.py", "--endless"]);
    expect(await queued.done, queued.output()).toBe(0);
    const study = Number(queued.output().trim().split("\n").at(-1));
    await until("a running trial", async () => {
      const { workers } = await server.api<{ workers: { study?: number; state: string }[] }>("/api/workers");
      return workers.some((worker) => worker.study === study && worker.state === "computing");
    });
    await server.api(`/api/studies/${study}/cancel`, { method: "POST" });
    const next = await runPython(server, ["tests/e2e/objectives/constant.py", "--trials", "4", "--wait"]);
    expect(await next.done, next.output()).toBe(0);
    expect((await server.api<StudyRow>(`/api/studies/${study}`)).state).toBe("cancelled");
  });

  test("a hidden page releases its trial", async () => {
    for (const { context } of volunteers.splice(1)) await context.close();
    const [only] = volunteers;
    if (only === undefined) throw new Error("no volunteer is left");
    const queued = await runPython(server, ["tests/e2e/objectives/constant.py", "--endless"]);
    expect(await queued.done, queued.output()).toBe(0);
    const study = Number(queued.output().trim().split("\n").at(-1));
    await until("a running trial", async () => {
      const row = await server.api<StudyRow>(`/api/studies/${study}`);
      return row.attempts === 1;
    });
    await only.page.evaluate(() => {
      Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    await until("the release", async () => {
      const trial = await server.api<TrialRow>(`/api/studies/${study}/trials/0`);
      return trial.attempts_list?.every((attempt) => attempt.state === "released");
    });
    await server.api(`/api/studies/${study}/cancel`, { method: "POST" });
  });
});

describe("origins", () => {
  test("no page asked anything of another origin, and no page threw", () => {
    for (const { requests, errors } of volunteers) {
      expect(requests.filter((url) => !url.startsWith(server.compute) && !url.startsWith("blob:"))).toEqual([]);
      expect(errors.filter((text) => !/WebSocket|ERR_CONNECTION/.test(text))).toEqual([]);
    }
  });
});
