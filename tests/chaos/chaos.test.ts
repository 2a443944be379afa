// Tests that each trial counts exactly once under faults. A real server, devices without a browser, and the real agent
// in two Chromium tabs run while tabs and the server are killed, connections are cut or slow, and the disk is full. One
// device sends invented values until it is banned and its results are rejected. Two researchers with weights share a
// project, and another project lends its devices to it until it has a study itself. A seed chooses the faults and the
// weights. The environment variable CHAOS lists the seeds, such as `3`; the default is 1 to 20.

import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { type Enrolled, enrol } from "../e2e/device.ts";
import {
  joinVolunteer,
  queueStudy,
  Server,
  type StudyRow,
  type TrialRow,
  until,
  type Volunteer,
} from "../e2e/stack.ts";
import { Link } from "./link.ts";
import { randomOf, type Step, scheduleOf } from "./schedule.ts";
import { type Tenant, type Tenants, tenantsOf } from "./tenants.ts";
import { Worker } from "./worker.ts";

const WORKERS = 3;
const LENT_WORKERS = 2;
const TABS = 2;
const SLOW_BYTES_PER_SECOND = 3_000;

const seeds = seedsOf(process.env.CHAOS || "1..20");
let browser: Browser;

function seedsOf(text: string): number[] {
  const match = /^(\d+)(?:\.\.(\d+))?$/.exec(text);
  if (match === null) throw new Error(`CHAOS is "${text}": give a seed or a range such as 1..20.`);
  const first = Number(match[1]);
  const last = Number(match[2] ?? match[1]);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** The server, the tabs and the other devices of the run with one seed. */
class Stage {
  readonly server: Server;
  readonly tenants: Tenants;
  readonly #random: () => number;
  readonly #tabLink: Link;
  readonly #links: Link[] = [];
  readonly workers: Worker[] = [];
  /** Those of `workers` that belong to the project that lends. */
  readonly lent = new Set<Worker>();
  /** The one of `workers` that sends invented values. */
  readonly liar: Worker;
  /** Ends when the liar is banned and its results are rejected. */
  #rejection: Promise<void> = Promise.resolve();
  #tabs: Volunteer[] = [];

  private constructor(
    server: Server,
    tenants: Tenants,
    tabLink: Link,
    random: () => number,
    liarLink: Link,
    liar: Enrolled,
  ) {
    this.server = server;
    this.tenants = tenants;
    this.#tabLink = tabLink;
    this.#random = random;
    this.#links.push(liarLink);
    this.liar = new Worker(liarLink, liar, random, true);
    this.workers.push(this.liar);
  }

  static async set(seed: number): Promise<Stage> {
    const server = await Server.start({
      args: ["--lease-ms", "2500", "--heartbeat-ms", "500"],
      // With SIGXFSZ ignored, a write beyond the file size limit fails instead of ending the process.
      wrapper: ["sh", "-c", 'trap "" XFSZ; exec "$0" "$@"'],
    });
    const random = randomOf(seed + 1_000);
    const tenants = await tenantsOf(server, random);
    const port = portOf(server);
    const [tabLink, liarLink] = [await Link.to(port), await Link.to(port)];
    const liar = await enrol(server);
    const stage = new Stage(server, tenants, tabLink, random, liarLink, liar);
    for (let i = 0; i < WORKERS; i += 1) await stage.addWorker();
    for (let i = 0; i < LENT_WORKERS; i += 1) await stage.addWorker(true);
    return stage;
  }

  async addWorker(isLent = false): Promise<void> {
    const link = await Link.to(portOf(this.server));
    this.#links.push(link);
    const code = isLent ? this.tenants.lenderCode : undefined;
    // After a full disk, the server refuses devices until it has looked at the disk again.
    const identity = await until("a device that joins", () =>
      enrol(this.server, code).catch((error: Error) => {
        if (!error.message.includes("no_room")) throw error;
        return undefined;
      }),
    );
    const worker = new Worker(link, identity, this.#random);
    this.workers.push(worker);
    if (isLent) this.lent.add(worker);
  }

  async addTab(): Promise<void> {
    const joinUrl = await this.server.joinUrl(this.#tabLink.origin);
    this.#tabs.push(await joinVolunteer(browser, joinUrl));
  }

  async perform({ fault, forMs }: Step): Promise<void> {
    const lines = [this.#tabLink, ...this.#links];
    switch (fault) {
      case "tab_kill": {
        await this.#tabs.shift()?.context.close();
        const honest = this.workers.filter((worker) => worker !== this.liar);
        const victim = honest.find((worker) => worker.isComputing) ?? honest[0];
        victim?.kill();
        await this.addWorker(victim !== undefined && this.lent.has(victim));
        break;
      }
      case "server_kill":
        await this.server.kill("SIGKILL");
        await sleep(forMs);
        await this.server.restart();
        break;
      case "disconnect":
        for (const line of lines) line.cut();
        break;
      case "slow_link":
        for (const line of lines) line.slow(SLOW_BYTES_PER_SECOND);
        await sleep(forMs);
        for (const line of lines) line.mend();
        break;
      case "full_disk":
        await limitFiles(this.server.pid, "4096");
        await until("a write that fails", async () => {
          const ready = await fetch(`${this.server.console}/readyz`);
          return ready.status === 503;
        });
        await sleep(forMs);
        await limitFiles(this.server.pid, "unlimited");
        break;
      case "rejection":
        this.#rejection = this.#reject();
        break;
      default:
        fault satisfies never;
    }
  }

  /** Waits until the liar is banned and what it has sent is rejected. */
  async rejected(): Promise<void> {
    await this.#rejection;
  }

  /**
   * Bans the liar once a result of it was accepted, and rejects what it has sent. The server may be killed before the
   * answer comes. So the request is sent again until there is nothing left to reject.
   */
  async #reject(): Promise<void> {
    await until("an accepted result of the liar", async () =>
      this.liar.acknowledged.some(({ verdict }) => verdict === "accepted"),
    );
    const { admin_token: token } = await this.server.credentials();
    await until("the rejection", async () => {
      const answer = await this.server
        .api<{ rejected: number }>(`/api/devices/${this.liar.device}/revoke`, {
          method: "POST",
          body: JSON.stringify({ reject: true, reason: "it sends invented values" }),
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        })
        .catch(() => undefined);
      return answer?.rejected === 0;
    });
  }

  async dispose(): Promise<void> {
    for (const worker of this.workers) worker.kill();
    await Promise.all(this.workers.map((worker) => worker.ended));
    for (const { context } of this.#tabs) await context.close();
    for (const link of [this.#tabLink, ...this.#links]) await link.close();
    await this.server.dispose();
  }
}

function portOf(server: Server): number {
  return Number(new URL(server.compute).port);
}

/** Limits the size of the files that a process may write. For the server this is like a full disk. */
async function limitFiles(pid: number, soft: string): Promise<void> {
  await promisify(execFile)("prlimit", ["--pid", String(pid), `--fsize=${soft}:unlimited`]);
}

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
});

/** A study of a run, and what the server says of it. */
class Run {
  readonly tenant: Tenant;
  readonly study: number;
  readonly #server: Server;

  private constructor(server: Server, tenant: Tenant, study: number) {
    this.#server = server;
    this.tenant = tenant;
    this.study = study;
  }

  static async begin(server: Server, tenant: Tenant): Promise<Run> {
    const args = ["tests/chaos/objective.py", "--trials", String(tenant.trials)];
    return new Run(server, tenant, await queueStudy(server, args, tenant.token));
  }

  async row(): Promise<StudyRow> {
    return this.#ask<StudyRow>("");
  }

  /**
   * Checks that each point of the grid was accepted once, with its own value, and that no result of the liar counts.
   * Returns the accepted attempt of each trial, the devices of all attempts, and the number of rejected results.
   */
  async check(
    liar: string,
  ): Promise<{ acceptedBy: Map<number, number>; devices: string[]; rejected: number }> {
    const { trials: count } = this.tenant;
    expect(await this.row()).toMatchObject({ total: count, complete: count, failed: 0 });
    const { trials } = await this.#ask<{ trials: TrialRow[] }>("/trials?limit=500");
    const values = trials.map(({ params, values: [value] }) => [JSON.parse(params).x, value]);
    expect(values.sort((a, b) => Number(a[0]) - Number(b[0]))).toEqual(
      Array.from({ length: count }, (_, x) => [x, x]),
    );
    const acceptedBy = new Map<number, number>();
    const devices: string[] = [];
    let rejected = 0;
    for (const { trial } of trials) {
      const attempts = (await this.#ask<TrialRow>(`/trials/${trial}`)).attempts_list ?? [];
      devices.push(...attempts.map(({ device }) => device.device));
      const accepted = attempts.filter(({ state }) => state === "accepted");
      expect(accepted, `attempts of trial ${trial}`).toHaveLength(1);
      acceptedBy.set(trial, accepted[0]?.attempt ?? 0);
      expect(accepted[0]?.device.device, `the device of trial ${trial}`).not.toBe(liar);
      for (const one of attempts) {
        expect(one.rejected !== undefined, `rejection of attempt ${one.attempt}`).toBe(
          one.device.device === liar,
        );
        if (one.rejected !== undefined && one.values.length > 0) rejected += 1;
      }
    }
    return { acceptedBy, devices, rejected };
  }

  #ask<T>(path: string): Promise<T> {
    return this.#server.api<T>(`/api/studies/${this.study}${path}`, {
      headers: { authorization: `Bearer ${this.tenant.token}` },
    });
  }
}

test.each(seeds)("exactly once under schedule %i", async (seed) => {
  const stage = await Stage.set(seed);
  const { server, tenants } = stage;
  try {
    for (let i = 0; i < TABS; i += 1) await stage.addTab();
    const runs = await Promise.all(tenants.sharing.map((tenant) => Run.begin(server, tenant)));
    const steps = scheduleOf(seed);
    const half = Math.floor(steps.length / 2);
    for (const [i, step] of steps.entries()) {
      // From now on the project that lends needs its devices itself.
      if (i === half) runs.push(await Run.begin(server, tenants.lender));
      await sleep(step.afterMs);
      await stage.perform(step);
    }
    await stage.rejected();
    for (const run of runs) {
      await until(`the end of the study of ${run.tenant.name}`, async () => {
        const row = await run.row().catch(() => undefined);
        return row?.state === "finished";
      });
    }

    const lentDevices = new Set([...stage.lent].map(({ device }) => device));
    let attempts = 0;
    let lent = 0;
    let rejected = 0;
    for (const run of runs) {
      const { acceptedBy, devices, ...found } = await run.check(stage.liar.device);
      rejected += found.rejected;
      attempts += devices.length;
      // A project computes on its own devices and on those that are lent to it, and on no others.
      const foreign = devices.filter((device) => lentDevices.has(device));
      if (run.tenant === tenants.lender) expect(foreign).toHaveLength(devices.length);
      else lent += foreign.length;
      // No honest result is lost: each one that was acknowledged as accepted is the one that counts.
      const honest = stage.workers.filter((worker) => worker !== stage.liar);
      const told = honest.flatMap(({ acknowledged }) => acknowledged);
      for (const { study, trial, attempt, verdict } of told) {
        if (study === run.study && verdict === "accepted") {
          expect(acceptedBy.get(trial)).toBe(attempt);
        }
      }
    }
    expect(rejected).toBeGreaterThan(0);
    // The server has noticed the full disk, and has recovered by itself or was killed before it could.
    const lastFull = server.log.lastIndexOf('"storage_full"');
    expect(lastFull).not.toBe(-1);
    expect(server.log.slice(lastFull)).toMatch(/"event":"(storage_recovered|listening)"/);
    const trials = runs.reduce((sum, { tenant }) => sum + tenant.trials, 0);
    const weights = tenants.sharing.map(({ weight }) => weight).join(" and ");
    const faults = steps.map(({ fault }) => fault).join(", ");
    console.log(
      `seed ${seed}: ${trials} trials once in ${attempts} attempts, ${lent} of them on lent devices, ${rejected} ` +
        `results rejected, with weights ${weights}, under ${faults}`,
    );
  } catch (error) {
    console.log(server.log.slice(-4_000));
    throw error;
  } finally {
    await stage.dispose();
  }
});
