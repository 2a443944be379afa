// A trial that takes its renderers down: each device is lost with it, the third makes it poison, and another study finishes.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { joinVolunteer, runPython, Server, type StudyRow, type TrialRow, until } from "./stack.ts";

const kDevicesToPoison = 3;

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await Server.start({ args: ["--lease-ms", "2000", "--heartbeat-ms", "500"] });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await server.dispose();
});

async function queue(...options: string[]): Promise<number> {
  const queued = await runPython(server, ["tests/e2e/objectives/constant.py", ...options]);
  expect(await queued.done, queued.output()).toBe(0);
  return Number(queued.output().trim().split("\n").at(-1));
}

test("three crashed renderers make a trial poison; a study beside it finishes", async () => {
  const study = await queue("--endless");
  const joinUrl = await server.joinUrl();
  // One more than it takes: who is left finishes the other study.
  let volunteers = await Promise.all(
    Array.from({ length: kDevicesToPoison + 1 }, () => joinVolunteer(browser, joinUrl)),
  );
  const trial = () => server.api<TrialRow>(`/api/studies/${study}/trials/0`);
  for (let crashed = 0; crashed < kDevicesToPoison; crashed += 1) {
    const computing = await until("a tab that computes", async () => {
      for (const volunteer of volunteers) {
        const panel = volunteer.page.locator('.panel[data-phase="computing"]');
        if ((await panel.count()) > 0) return volunteer;
      }
      return undefined;
    });
    const session = await computing.context.newCDPSession(computing.page);
    session.send("Page.crash").catch(() => {}); // Nobody is left to answer.
    volunteers = volunteers.filter((volunteer) => volunteer !== computing);
    await until("the end of its lease", async () => {
      const lost = (await trial()).attempts_list?.filter(({ state }) => state === "expired");
      return lost?.length === crashed + 1;
    });
  }
  const row = await until("the end of the study", async () => {
    const { state } = await server.api<StudyRow>(`/api/studies/${study}`);
    return state === "finished" && (await trial());
  });
  expect(row).toMatchObject({ state: "failed", error: { cause: "worker_lost", code: "poison" } });
  expect(new Set(row.attempts_list?.map(({ device }) => device.device)).size).toBe(
    kDevicesToPoison,
  );

  const beside = await queue("--trials", "2", "--wait");
  expect(await server.api<StudyRow>(`/api/studies/${beside}`)).toMatchObject({
    state: "finished",
    complete: 2,
  });
});
