// Tests that each trial counts exactly once under faults. A real server, devices without a browser, and the real agent
// in two Chromium tabs run while tabs and the server are killed, connections are cut or slow, and the disk is full. A
// seed chooses the faults. The environment variable CHAOS lists the seeds, such as `3`; the default is 1 to 20.

import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { enrol } from "../e2e/device.ts";
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
import { Worker } from "./worker.ts";

const WORKERS = 4;
const TABS = 2;
const TRIALS = 36;
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
  readonly #random: () => number;
  readonly #tabLink: Link;
  readonly #links: Link[] = [];
  readonly workers: Worker[] = [];
  #tabs: Volunteer[] = [];

  private constructor(server: Server, tabLink: Link, random: () => number) {
    this.server = server;
    this.#tabLink = tabLink;
    this.#random = random;
  }

  static async set(seed: number): Promise<Stage> {
    const server = await Server.start({
      args: ["--lease-ms", "2500", "--heartbeat-ms", "500"],
      // With SIGXFSZ ignored, a write beyond the file size limit fails instead of ending the process.
      wrapper: ["sh", "-c", 'trap "" XFSZ; exec "$0" "$@"'],
    });
    const stage = new Stage(server, await Link.to(portOf(server)), randomOf(seed + 1_000));
    for (let i = 0; i < WORKERS; i += 1) await stage.addWorker();
    return stage;
  }

  async addWorker(): Promise<void> {
    const link = await Link.to(portOf(this.server));
    this.#links.push(link);
    this.workers.push(new Worker(link, await enrol(this.server), this.#random));
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
        const victim = this.workers.find((worker) => worker.isComputing) ?? this.workers[0];
        victim?.kill();
        await this.addWorker();
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
      default:
        fault satisfies never;
    }
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

test.each(seeds)("exactly once under schedule %i", async (seed) => {
  const stage = await Stage.set(seed);
  const { server } = stage;
  try {
    for (let i = 0; i < TABS; i += 1) await stage.addTab();
    const study = await queueStudy(server, [
      ...["tests/chaos/objective.py", "--trials", String(TRIALS)],
    ]);
    const steps = scheduleOf(seed);
    for (const step of steps) {
      await sleep(step.afterMs);
      await stage.perform(step);
    }
    const rowOf = () => server.api<StudyRow>(`/api/studies/${study}`).catch(() => undefined);
    await until("the end of the study", async () => (await rowOf())?.state === "finished");

    // Each point of the grid was accepted once, with its own value.
    expect(await rowOf()).toMatchObject({ total: TRIALS, complete: TRIALS, failed: 0 });
    const path = `/api/studies/${study}/trials`;
    const { trials } = await server.api<{ trials: TrialRow[] }>(`${path}?limit=500`);
    const values = trials.map(({ params, values: [value] }) => [JSON.parse(params).x, value]);
    expect(values.sort((a, b) => Number(a[0]) - Number(b[0]))).toEqual(
      Array.from({ length: TRIALS }, (_, x) => [x, x]),
    );
    const acceptedBy = new Map<number, number>();
    for (const { trial } of trials) {
      const detail = await server.api<TrialRow>(`${path}/${trial}`);
      const accepted = (detail.attempts_list ?? []).filter(({ state }) => state === "accepted");
      expect(accepted, `attempts of trial ${trial}`).toHaveLength(1);
      acceptedBy.set(trial, accepted[0]?.attempt ?? 0);
    }
    // No result is lost: each result that was acknowledged as accepted is the one that counts.
    const told = stage.workers.flatMap(({ acknowledged }) => acknowledged);
    for (const { trial, attempt, verdict } of told) {
      if (verdict === "accepted") expect(acceptedBy.get(trial)).toBe(attempt);
    }
    // The server has noticed the full disk and has recovered by itself.
    expect(server.log).toContain("storage_recovered");
    const attempts = (await rowOf())?.attempts;
    const faults = steps.map(({ fault }) => fault).join(", ");
    console.log(`seed ${seed}: ${TRIALS} trials once in ${attempts} attempts under ${faults}`);
  } catch (error) {
    console.log(server.log.slice(-4_000));
    throw error;
  } finally {
    await stage.dispose();
  }
});
