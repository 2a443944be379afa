// A trial with data in a real Chromium that lacks, in its page and in every thread, all features of the table
// (worker-runtime/src/platform/features.fixture.ts) without which the project goes on: the oldest browser of the minimum,
// with everything switched off. web-client/tests/platform_page.test.ts deletes each of them alone.

import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { en } from "../../../web-client/src/i18n/en.ts";
import { launchChromium } from "../../../worker-runtime/node/chromium.ts";
import { FEATURES } from "../../../worker-runtime/src/platform/features.fixture.ts";
import { openVolunteer, ROOT, runPython, Server, tapStart } from "../stack.ts";

const absent = FEATURES.filter(
  ({ without }) => without === "goes on" || without === "own function",
);
const removeAll = absent.map(({ remove }) => `{${remove}}`).join("\n");

let pages: string;
let server: Server;
let browser: Browser;

beforeAll(async () => {
  pages = await mkdtemp(join(tmpdir(), "hyperflock-pages-"));
  await cp(join(ROOT, "build/web"), pages, { recursive: true });
  const app = join(pages, "app");
  for (const name of await readdir(app)) {
    if (!name.includes("-thread-")) continue;
    if (!name.endsWith(".js")) {
      await rm(join(app, name)); // a compressed form of the script before its change
      continue;
    }
    const script = await readFile(join(app, name), "utf8");
    await writeFile(join(app, name), `${removeAll}\n${script}`);
  }
  server = await Server.start({ app: pages });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await server?.dispose();
  await rm(pages, { recursive: true, force: true });
});

test("A trial with data computes in a browser that lacks all that it may lack.", async () => {
  const context = await browser.newContext({ locale: "en-US" });
  await context.addInitScript(removeAll);
  const { page, errors } = await openVolunteer(context, await server.joinUrl());
  await tapStart(page);
  const study = await runPython(server, ["tests/e2e/objectives/with_data.py", "--seed", "71"]);
  expect(await study.done, study.output()).toBe(0);
  await page.locator("[data-contribution=trials]", { hasText: "2" }).waitFor();
  await page.locator(".panel", { hasText: en.states.keepScreenOn }).waitFor();
  expect(errors).toEqual([]);

  await page.locator("[data-action=stop]").click();
  await page.goto(`${server.compute}/selftest`);
  await page.locator("[data-looked=true]").waitFor();
  await page.locator("[data-action=run_python]").click();
  await page.locator("[data-python=done]").waitFor();
  const stateOf = (check: string) =>
    page.locator(`[data-check=${check}]`).getAttribute("data-state");
  expect(await stateOf("numpy")).toBe("ok");
  expect(await stateOf("thread")).toBe("ok");
  expect(await stateOf("functions")).toBe("limited");
  await context.close();
});
