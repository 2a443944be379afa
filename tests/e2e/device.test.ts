// Tests trials that ask for a device, with the real parts: the built server, Chromium with WebGPU (in software on
// machines without a graphics card), array-core from the runtime, the Python package. CPython must get equal results.

import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, launchChromium } from "../../worker-runtime/node/chromium.ts";
import { CountingProxy } from "./counting_proxy.ts";
import { traceMainThread } from "./main_thread.ts";
import { joinVolunteer, runPython, Server, until, type Volunteer } from "./stack.ts";

/** No task of the page's main thread may take this much thread CPU time while a trial trains. */
const LONG_TASK_MS = 50;

/** The fields of the output of `hyperflock replay --json` that these tests read. */
interface Replay {
  readonly compared: readonly { readonly difference: number | null }[];
}

let server: Server;
let browser: Browser;
let volunteer: Volunteer;

async function runs(...options: string[]): Promise<string> {
  const run = await runPython(server, ["tests/e2e/objectives/on_device.py", ...options]);
  expect(await run.done, run.output()).toBe(0);
  return run.output().trim();
}

const fetched = (volunteer_: Volunteer) =>
  volunteer_.requests.filter((url) => /arraycore|gpu-thread|webgl2/.test(url));

beforeAll(async () => {
  server = await Server.start({ args: ["--lease-ms", "30000"] });
});
afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

describe("with WebGPU", () => {
  beforeAll(async () => {
    browser = await launchChromium({ webgpu: true });
    volunteer = await joinVolunteer(browser, await server.joinUrl());
  });
  afterAll(async () => {
    await browser.close();
  });

  test("A trial that asks for no device fetches nothing for one, and says that it was NumPy.", async () => {
    const run = await runPython(server, ["tests/e2e/objectives/constant.py", "--wait"]);
    expect(await run.done, run.output()).toBe(0);
    expect(fetched(volunteer)).toEqual([]);
    const row = await server.newestStudy();
    const { trials } = await server.api<{ trials: { device: { backend: string } }[] }>(
      `/api/studies/${row?.study}/trials`,
    );
    expect(trials.map(({ device }) => device.backend)).toEqual(trials.map(() => "numpy"));
  });

  test("8 of the 64 candidates on WebGPU agree with CPython, and the page stays responsive.", async () => {
    const trace = await traceMainThread(browser, volunteer.page);
    console.log(await runs("--backend", "webgpu", "--channels", "4,16"));
    const main = await trace.end();
    console.log(`${main.tasks} tasks of the page, the longest ${main.longestMs.toFixed(1)} ms`);
    expect(main.longestMs).toBeLessThan(LONG_TASK_MS);
    // The page loads only one of array-core's two modules.
    expect(fetched(volunteer).filter((url) => url.endsWith(".wasm"))).toHaveLength(1);
  });

  test("A candidate that ran on WebGPU does so again in the researcher's own browser, and agrees.", async () => {
    const row = await server.newestStudy();
    const env = {
      HYPERFLOCK_BROWSER: chromiumPath(),
      HYPERFLOCK_CACHE: join(server.state, "cache"),
    };
    const command = ["-m", "hyperflock", "replay", String(row?.study), "0"];
    const run = await runPython(server, [...command, "--on", "chromium", "--json"], { env });
    expect(await run.done, run.output()).toBe(0);
    const told = JSON.parse(run.output()) as Replay;
    expect(told).toMatchObject({ same: true, backend: "webgpu", notes: [] });
    const differences = told.compared.map(({ difference }) => difference ?? 0);
    console.log(`${differences.length} numbers, largest difference ${Math.max(...differences)}`);
  });

  test("Chainer 5.4.0; a software adapter is no reason to leave the CPU.", async () => {
    const auto = ["--backend", "auto", "--expect", "cpu"];
    console.log(await runs(...auto, "--channels", "4", "--chainer", "5.4.0"));
  });

  test("A trial whose device is lost goes on from its checkpoint.", async () => {
    const run = await runPython(server, ["tests/e2e/objectives/losing_device.py"]);
    await until("a point after the checkpoint", async () => {
      const study = Number(run.output().split("\n")[0]);
      if (!study) return false;
      const trial = await server
        .api<{ points?: [number, number][] }>(`/api/studies/${study}/trials/0`)
        .catch(() => ({ points: [] }));
      return trial.points?.some(([step]) => step > 6);
    });
    const session = await browser.newBrowserCDPSession();
    // The call gets no answer, because it crashes the process that would answer.
    session.send("Browser.crashGpuProcess").catch(() => {});
    expect(await run.done, run.output()).toBe(0);
    console.log(run.output().trim());
  });

  test("No page asked anything of another origin, and none threw.", () => {
    expect(volunteer.requests.filter((url) => !url.startsWith(server.compute))).toEqual([]);
    expect(volunteer.errors).toEqual([]);
  });
});

test("A volunteer without WebGPU computes a study by WebGL2, which agrees with CPython.", async () => {
  browser = await launchChromium({ webgl2: true });
  const joined = await joinVolunteer(browser, await server.joinUrl());
  console.log(await runs("--backend", "webgl2", "--channels", "4"));
  const { workers } = await server.api<{ workers: { backends: string[] }[] }>("/api/workers");
  expect(workers.map(({ backends }) => backends)).toEqual([["webgl2", "cpu"]]);
  expect(joined.requests.filter((url) => url.includes("webgl2_open"))).toHaveLength(1);
  expect(joined.errors).toEqual([]);
  await browser.close();
});

test("A page that is not isolated computes on the CPU's back end, by JSPI.", async () => {
  const isolation = ["cross-origin-opener-policy", "cross-origin-embedder-policy"];
  const proxy = await CountingProxy.start(server.compute, isolation);
  browser = await launchChromium({ webgpu: true });
  try {
    const joined = await joinVolunteer(browser, await server.joinUrl(proxy.origin));
    expect(await joined.page.evaluate(() => crossOriginIsolated)).toBe(false);
    console.log(await runs("--backend", "auto", "--expect", "cpu", "--channels", "4"));
    const { workers } = await server.api<{ workers: { backends: string[] }[] }>("/api/workers");
    expect(workers.map(({ backends }) => backends)).toEqual([["cpu"]]);
    expect(joined.errors).toEqual([]);
  } finally {
    await proxy.close();
  }
});
