// Tests in Chromium that a study of scikit-learn fetches its packs, and gives the same accuracies as CPython; and that
// other studies fetch none of them.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../../worker-runtime/node/chromium.ts";
import { joinVolunteer, runPython, Server, type Volunteer } from "../stack.ts";

const PACK =
  /\/runtime\/(joblib|threadpoolctl|scipy|scikit-learn|python-dateutil|pytz|pandas|pillow|matplotlib)-[0-9a-f]{16}\//;
const PACK_LIST = /packs\.json$/;

let server: Server;
let browser: Browser;
let volunteer: Volunteer;

beforeAll(async () => {
  server = await Server.start();
  browser = await launchChromium();
  volunteer = await joinVolunteer(browser, await server.joinUrl());
});
afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

/** Runs a script and returns the names of the packs that were fetched meanwhile, sorted. */
async function packsOf(script: string, ...options: string[]): Promise<string[]> {
  volunteer.requests.splice(0);
  const run = await runPython(server, [`tests/e2e/objectives/${script}`, ...options]);
  expect(await run.done, run.output()).toBe(0);
  const found = volunteer.requests.map((url) => PACK.exec(url)?.[1] ?? PACK_LIST.exec(url)?.[0]);
  return found.filter((name) => name !== undefined).sort();
}

test("A study without packs fetches none.", async () => {
  expect(await packsOf("with_data.py", "--seed", "1")).toEqual([]);
});

test("scikit-learn and pandas give the same accuracies as CPython, and are fetched once.", async () => {
  expect(await packsOf("with_sklearn.py")).toEqual([
    "joblib",
    "packs.json",
    "pandas",
    "python-dateutil",
    "pytz",
    "scikit-learn",
    "scipy",
    "threadpoolctl",
  ]);
  const trial = await server.api<{ attempts_list: { software?: string }[] }>(
    "/api/studies/2/trials/0",
  );
  expect(trial.attempts_list.map(({ software }) => software)).toEqual([
    expect.stringContaining(" scikit-learn/1.8.0 "),
  ]);
  expect(volunteer.errors).toEqual([]);
});

test("A table of pandas arrives as data and brings pandas with it, and Matplotlib draws it.", async () => {
  expect(await packsOf("with_table.py")).toEqual(
    expect.arrayContaining(["matplotlib", "packs.json", "pandas", "pillow"]),
  );
  expect(volunteer.errors).toEqual([]);
});
