// ./run engines: tests the join page, one trial and the self-test in browsers that are not Chromium. If an engine lacks
// a feature that trials need, the page must name it, and the trial is skipped. A trial's accuracy must be close to that
// in Chromium.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en } from "../../web-client/src/i18n/en.ts";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { joinVolunteer, runPython, Server, type TrialRow, until } from "../e2e/stack.ts";
import { type Engine, EngineMissing } from "./engine.ts";
import { Firefox } from "./firefox.ts";
import { WebKit } from "./webkit.ts";

/** The largest allowed difference between an engine's accuracy and that of Chromium, in percentage points. */
const POINTS = 1;
const TRIAL_MS = 240_000;

let server: Server;
let browser: Browser;
let chromiumAccuracy = Number.NaN;

interface Computed {
  readonly accuracy: number;
  /** The engine of the device that computed the trial, such as `firefox 153`. */
  readonly engine: string;
}

/**
 * Submits a study with one trial: a small CNN on scikit-learn's digits, with the same weights, batches and seed each
 * time. The returned function waits for the trial's result.
 */
async function queue(): Promise<() => Promise<Computed>> {
  await server.untilNobodyIsConnected();
  const before = await server.newestStudy();
  const run = await runPython(server, ["python/examples/digits_grid.py", "--channels", "4"]);
  const study = await until(
    "the study",
    async () => {
      const newest = await server.newestStudy();
      return newest !== undefined && newest.study !== before?.study && newest.study;
    },
    TRIAL_MS,
  );
  return async () => {
    expect(await run.done, run.output()).toBe(0);
    const trial = await server.api<TrialRow>(`/api/studies/${study}/trials/0`);
    expect(trial.state).toBe("complete");
    return { accuracy: trial.values[0] ?? Number.NaN, engine: trial.device?.engine ?? "" };
  };
}

beforeAll(async () => {
  server = await Server.start();
  browser = await launchChromium();
  const computed = await queue();
  const { context } = await joinVolunteer(browser, await server.joinUrl());
  chromiumAccuracy = (await computed()).accuracy;
  await context.close();
});

afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

const engines = [
  ["Firefox", () => Firefox.start()],
  ["WebKitGTK with shared memory", () => WebKit.start(true)],
  ["WebKitGTK as packaged", () => WebKit.start(false)],
] as const;

const phaseOf = (engine: Engine) =>
  engine.evaluate("document.querySelector('.panel')?.dataset.phase ?? null");

const textOf = async (engine: Engine) =>
  String(await engine.evaluate("document.querySelector('.panel')?.textContent ?? ''"));

/** Waits as `until` does. Its error contains the text of the join page. It also prints the server's log. */
async function untilSeen(
  engine: Engine,
  what: string,
  probe: () => Promise<boolean>,
  timeoutMs?: number,
): Promise<void> {
  await until(what, probe, timeoutMs).catch(async (error: unknown) => {
    const state = await engine.evaluate("document.visibilityState");
    const { workers } = await server.api<{ workers: unknown[] }>("/api/workers");
    console.log(`connected: ${JSON.stringify(workers)}\n${server.log.slice(-8_192)}`);
    throw new Error(`${error}; the page is ${state} and says: ${await textOf(engine)}`);
  });
}

describe.each(engines)("%s", (name, start) => {
  let engine: Engine | null = null;

  beforeAll(async () => {
    engine = await start().catch((error: unknown) => {
      if (!(error instanceof EngineMissing)) throw error;
      console.log(`${name}: skipped, the package ${error.message} is not installed`);
      return null;
    });
  });

  afterAll(async () => {
    await engine?.close();
  });

  test("shows the join page and computes a trial, or names what is missing", async (here) => {
    if (engine === null) return here.skip();
    const current = engine;
    await current.open(await server.joinUrl());
    const phase = await until("the join page", async () => {
      const now = await phaseOf(current);
      return now !== null && now !== "project_loading" && now;
    });
    if (phase === "unsupported") {
      const text = await textOf(current);
      const named = Object.entries(en.unsupported.reasons).filter(([, why]) => text.includes(why));
      expect(named.map(([reason]) => reason)).toHaveLength(1);
      console.log(`${name}: skipped, the page names ${named[0]?.[0]}`);
      return here.skip();
    }
    expect(phase).toBe("idle");
    const computed = await queue();
    await current.click("[data-action=start]");
    await untilSeen(
      current,
      "the trial's end",
      async () => {
        const now = await phaseOf(current);
        if (now === "failed") throw new Error(await textOf(current));
        return (await server.newestStudy())?.complete === 1;
      },
      TRIAL_MS,
    );
    const { accuracy, engine: by } = await computed();
    expect(by.split(" ")[0]).toBe(current.name);
    const trial = "document.querySelector('[data-contribution=trials]')?.textContent ?? ''";
    await untilSeen(
      current,
      "the contribution",
      async () => (await current.evaluate(trial)) === "1",
    );
    console.log(
      `${name}: accuracy ${accuracy.toFixed(4)}, in Chromium ${chromiumAccuracy.toFixed(4)}`,
    );
    expect(Math.abs(accuracy - chromiumAccuracy)).toBeLessThanOrEqual(POINTS / 100);
    await current.click("[data-action=stop]");
    await untilSeen(current, "the end", async () => (await phaseOf(current)) === "stopped");
  });

  test("looks at itself: the self-test page ends, and NumPy is right", async (here) => {
    if (engine === null) return here.skip();
    const current = engine;
    await current.open(`${server.compute}/selftest`);
    const attribute = (selector: string, key: string) =>
      current.evaluate(`document.querySelector('${selector}')?.dataset.${key} ?? null`);
    await until("the table", async () => (await attribute("main", "looked")) === "true");
    const verdict = await attribute("[data-verdict]", "verdict");
    if (verdict === "good") {
      await current.click("[data-action=run_python]");
      const done = () => attribute("[data-python]", "python");
      await until("Python's end", async () => (await done()) === "done", TRIAL_MS);
      expect(await attribute("[data-check=numpy]", "state")).toBe("ok");
    }
    const rows = JSON.parse(
      String(
        await current.evaluate(
          `JSON.stringify([...document.querySelectorAll("[data-check]")].map((row) =>
            [row.dataset.check, row.dataset.state, row.querySelector(".finding-detail").textContent]))`,
        ),
      ),
    ) as [string, string, string][];
    expect(rows.length).toBeGreaterThan(10);
    console.log(`${name}: verdict ${verdict}; ${await current.evaluate("navigator.userAgent")}`);
    for (const [check, state, detail] of rows) {
      if (state !== "ok") console.log(`${name}: ${state} ${check} (${detail})`);
    }
  });
});
