// Tests the platform's main purpose, grids of trials on volunteers' devices, with the real parts: the built server,
// Chromium, Pyodide, Chainer and the Python package.

import type { Lease } from "@hyperflock/worker-runtime/protocol";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { Device, enrol, hello } from "./device.ts";
import {
  joinVolunteer,
  queueStudy,
  runPython,
  Server,
  type StudyRow,
  type TrialRow,
  until,
  type Volunteer,
} from "./stack.ts";

let server: Server;
let browser: Browser;
const everyone: Volunteer[] = [];
const present = new Set<Volunteer>();

async function volunteer(): Promise<Volunteer> {
  const joined = await joinVolunteer(browser, await server.joinUrl());
  everyone.push(joined);
  present.add(joined);
  return joined;
}

async function leave(...leaving: readonly Volunteer[]): Promise<void> {
  for (const one of leaving) {
    present.delete(one);
    await one.context.close();
  }
}

async function trialsOf(study: number): Promise<readonly TrialRow[]> {
  return (await server.api<{ trials: TrialRow[] }>(`/api/studies/${study}/trials?limit=500`))
    .trials;
}

/** Checks that every trial has finished once, by one accepted attempt. */
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
  // Leases are short, so that the trial of a lost tab is leased again within seconds.
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
      until(
        `${count} complete trials`,
        async () => {
          const row = await server.newestStudy();
          return row !== undefined && row.complete >= count && row;
        },
        120_000,
      );

    // The tab is closed while it computes. Just before it closes, the page releases its trial.
    await complete(1);
    await first.page.locator('[data-phase="computing"]').waitFor();
    await leave(first);
    await volunteer();

    await complete(4);
    await server.kill("SIGKILL");
    await server.restart();

    expect(await study.done, study.output()).toBe(0);
    const row = await server.newestStudy();
    await expectExactlyOnce(row?.study ?? 0, 8);
    console.log(`8 trials took ${row?.attempts} attempts`);
    expect(row?.attempts).toBeGreaterThanOrEqual(8);
    expect(study.output()).toMatch(/best/i);
  });

  test("two devices deliver the same trial; one result counts, the other is evidence", async () => {
    // All volunteers leave. Otherwise their browsers would take the trials of this test.
    await leave(...present);
    // A study whose only trial has a result has ended and refuses other results. So there are two trials.
    const study = await queueStudy(server, [
      ...["tests/e2e/objectives/constant.py", "--label", "late", "--trials", "2"],
    ]);
    const leaseOf = async (device: Device): Promise<Lease> => {
      const lease = await device.lease();
      expect(lease.study).toBe(study);
      return lease;
    };

    const slow = await Device.join(server);
    const slowLease = await leaseOf(slow);
    // The first device is silent until its lease has expired. Then two others take both trials.
    await until("the end of the silent device's lease", async () => {
      const path = `/api/studies/${study}/trials/${slowLease.trial}`;
      const [first] = (await server.api<TrialRow>(path)).attempts_list ?? [];
      return first !== undefined && first.state !== "live";
    });
    const others: { device: Device; lease: Lease }[] = [];
    for (let i = 0; i < 2; i += 1) {
      const device = await Device.join(server);
      others.push({ device, lease: await leaseOf(device) });
    }
    const same = others.find(({ lease }) => lease.trial === slowLease.trial);
    const other = others.find(({ lease }) => lease.trial !== slowLease.trial);
    if (same === undefined || other === undefined) throw new Error("a trial was leased twice");
    expect(same.lease.attempt).not.toBe(slowLease.attempt);

    slow.result(slowLease, 1);
    expect(await slow.next("result_ack")).toMatchObject({ verdict: "accepted" });
    same.device.result(same.lease, 2);
    expect(await same.device.next("result_ack")).toMatchObject({ verdict: "evidence" });
    slow.result(slowLease, 1);
    expect(await slow.next("result_ack")).toMatchObject({ verdict: "accepted" });
    other.device.result(other.lease, 3);
    expect(await other.device.next("result_ack")).toMatchObject({ verdict: "accepted" });

    await expectExactlyOnce(study, 2);
    const trials = await trialsOf(study);
    expect(trials.find(({ trial }) => trial === slowLease.trial)?.values).toEqual([1]);
    for (const device of [slow, same.device, other.device]) device.close();
  });
});

describe("results equal CPython's", () => {
  test.each(["7.8.1", "5.4.0"])(
    "Chainer %s: points, weights, losses, accuracy",
    async (version) => {
      const joined = await volunteer();
      const run = await runPython(server, ["tests/e2e/objectives/parity.py", "--chainer", version]);
      expect(await run.done, run.output()).toBe(0);
      console.log(run.output().trim().split("\n").at(-1));
      await leave(joined);
    },
  );
});

describe("what travels", () => {
  test("closures, arrays, a file of 5 MB and a wheel arrive; another runtime's lock is refused", async () => {
    const joined = await volunteer();
    const run = await runPython(server, ["tests/e2e/objectives/travelling.py"]);
    expect(await run.done, run.output()).toBe(0);
    console.log(run.output().trim().split("\n").at(-1));
    await leave(joined);
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
    const study = await queueStudy(server, ["tests/e2e/objectives/constant.py", "--endless"]);
    await until("a running trial", async () => {
      const { workers } = await server.api<{ workers: { study?: number; state: string }[] }>(
        "/api/workers",
      );
      return workers.some((worker) => worker.study === study && worker.state === "computing");
    });
    await server.api(`/api/studies/${study}/cancel`, { method: "POST" });
    const next = await runPython(server, [
      "tests/e2e/objectives/constant.py",
      "--trials",
      "4",
      "--wait",
    ]);
    expect(await next.done, next.output()).toBe(0);
    expect((await server.api<StudyRow>(`/api/studies/${study}`)).state).toBe("cancelled");
  });

  test("a page that is hidden on a computer goes on computing", async () => {
    await leave(...present);
    const only = await volunteer();
    const study = await queueStudy(server, ["tests/e2e/objectives/constant.py", "--endless"]);
    await until("a running trial", async () => {
      const row = await server.api<StudyRow>(`/api/studies/${study}`);
      return row.attempts === 1;
    });
    await only.page.evaluate(() => {
      Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    // The lease is 6 s. An attempt that lives after twice that time was renewed by heartbeats of a page that computes.
    const hiddenAt = Date.now();
    await until("two leases", async () => Date.now() - hiddenAt > 12_000);
    const trial = await server.api<TrialRow>(`/api/studies/${study}/trials/0`);
    expect(trial.attempts_list?.map(({ state }) => state)).toEqual(["live"]);
    await server.api(`/api/studies/${study}/cancel`, { method: "POST" });
  });
});

describe("bad peers", () => {
  test("each gets its code; a study finishes beside them", async () => {
    await leave(...present);
    await volunteer();
    const healthy = await runPython(server, [
      "tests/e2e/objectives/constant.py",
      "--trials",
      "6",
      "--wait",
    ]);

    const tooLarge = await Device.join(server);
    tooLarge.sendText(JSON.stringify({ type: "ready", padding: "x".repeat(2 ** 20) }));
    await until("the oversized frame's close", async () => tooLarge.closeCode === 1009);

    const malformed = await Device.join(server);
    malformed.sendText('{"type": "ready"');
    expect(await malformed.next("error")).toMatchObject({ code: "malformed" });
    malformed.sendText(
      '{"type": "result", "attempt": 1, "seq": 1, "outcome": "complete", "values": [NaN]}',
    );
    expect(await malformed.next("error")).toMatchObject({ code: "malformed" });
    malformed.send({ type: "dance" });
    expect(await malformed.next("error")).toMatchObject({ code: "unknown_type" });
    malformed.send({ type: "release", attempt: 4_000_000, seq: 1, reason: "stopped" });
    expect(await malformed.next("error")).toMatchObject({ code: "unknown_attempt" });
    malformed.close();

    const identity = await enrol(server);
    const old = await Device.connect(server);
    old.send(hello(identity, 0));
    expect(await old.next("refused")).toMatchObject({ code: "client_too_old" });
    const forged = await Device.connect(server);
    forged.send(hello({ ...identity, secret: "hfd_guessed" }));
    expect(await forged.next("refused")).toMatchObject({ code: "bad_token" });
    for (const refused of [old, forged]) {
      await until("the refused peer's close", async () => refused.closeCode === 1008);
    }

    const { researcher_token } = await server.credentials();
    const put = (token: string) =>
      fetch(`${server.console}/api/blobs/${"0".repeat(64)}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${token}` },
        body: "other bytes",
      });
    const mismatch = await put(researcher_token);
    expect([mismatch.status, await mismatch.json()]).toMatchObject([
      422,
      { error: { code: "hash_mismatch" } },
    ]);
    const stranger = await put("hfr_guessed");
    expect([stranger.status, await stranger.json()]).toMatchObject([
      401,
      { error: { code: "unauthorized" } },
    ]);

    expect(await healthy.done, healthy.output()).toBe(0);
  });
});

describe("origins", () => {
  test("no page asked anything of another origin, and no page threw", () => {
    for (const { requests, errors } of everyone) {
      expect(requests.length).toBeGreaterThan(0);
      expect(
        requests.filter((url) => !url.startsWith(server.compute) && !url.startsWith("blob:")),
      ).toEqual([]);
      expect(errors.filter((text) => !/WebSocket|ERR_CONNECTION/.test(text))).toEqual([]);
    }
  });
});
