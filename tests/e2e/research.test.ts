// Tests the researcher's page on a real server, while a volunteer's browser computes a grid: from an empty list to the
// finished study's table, without a reload.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { joinVolunteer, runPython, Server, type TrialRow, until } from "./stack.ts";

interface Study {
  readonly study: number;
  readonly best: { readonly trial: number; readonly value: number };
}

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await Server.start();
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

async function signIn(page: Page, token: string): Promise<void> {
  await page.locator("#token").fill(token);
  await page.locator("[data-action=sign_in]").click();
}

const finishedTrials = async (page: Page): Promise<number> =>
  Number(
    (await page.locator("[data-view=study] .progress-text").textContent())?.match(/^\d+/)?.[0],
  );

test("a study is followed from its first trial to its end", async () => {
  const { researcher_token, admin_token } = await server.credentials();
  const context = await browser.newContext({
    locale: "en-US",
    viewport: { width: 1280, height: 900 },
  });
  const page = await context.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  context.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });

  await page.goto(server.console);
  expect(new URL(page.url()).pathname).toBe("/research");
  await signIn(page, "hfr_guessed");
  await page.locator("[data-problem=unauthorized]").first().waitFor();
  await signIn(page, researcher_token);
  await page.locator("[data-view=studies]").waitFor();
  await page.getByText("There is no study yet.").waitFor();

  // The volunteer uses the link that the page makes.
  await page.locator("[data-action=make_link]").click();
  const link = await page.locator(".copy-field").inputValue();
  expect(link.startsWith(`${server.compute}/join#`)).toBe(true);

  const grid = await runPython(server, ["python/examples/digits_grid.py"]);
  await page.locator(".study-link").first().click();
  await page.locator("[data-study-state=running]").waitFor();
  // The volunteer joins only now, so that the page sees every trial.
  const volunteer = await joinVolunteer(browser, link);
  const seen = new Set<number>();
  await until(
    "the study's end on the page",
    async () => {
      seen.add(await finishedTrials(page));
      return (await page.locator("[data-study-state=finished]").count()) === 1;
    },
    200_000,
  );
  expect(await grid.done, grid.output()).toBe(0);
  expect(
    [...seen].some((count) => count > 0 && count < 8),
    [...seen].join(", "),
  ).toBe(true);

  // The page shows the server's data.
  const { studies } = await server.api<{ studies: Study[] }>("/api/studies");
  const study = studies[0];
  if (study === undefined) throw new Error("the server has no study");
  const { trials } = await server.api<{ trials: TrialRow[] }>(
    `/api/studies/${study.study}/trials?limit=500`,
  );
  expect(trials).toHaveLength(8);
  await page.locator("[data-values='8']").waitFor();
  const best = Number((await page.locator("[data-best]").textContent())?.replace("E", "e"));
  expect(best).toBeCloseTo(study.best.value, 6);
  await page.locator("[data-part-link=trials]").click();
  await page.locator("[role=grid] [data-trial]").nth(7).waitFor();
  // A cell has four significant digits, and the full number where it has more.
  const shown = await page
    .locator("[role=gridcell][data-kind=value]")
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute("title") ?? cell.textContent));
  const expected = [...trials].sort((a, b) => a.trial - b.trial).map(({ values }) => values[0]);
  for (const [i, value] of expected.entries()) {
    expect(Number(shown[i])).toBe(value);
  }

  await page.locator(`[data-trial='${study.best.trial}'] a`).click();
  await page.locator("[data-view=trial] .chip[data-state=accepted]").waitFor();
  const detail = await server.api<TrialRow>(
    `/api/studies/${study.study}/trials/${study.best.trial}`,
  );
  await page.locator("summary").click();
  expect(await page.locator(".points tbody tr").count()).toBe(detail.points?.length);

  // Only this tab has the token: it is neither in the URL nor in lasting storage, and signing out removes it.
  await page.reload();
  await page.locator("[data-view=trial]").waitFor();
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain("hfr_");
  expect(await context.cookies()).toEqual([]);
  await page.locator("[data-action=sign_out]").click();
  await page.locator("[data-view=sign_in]").waitFor();
  await page.reload();
  await page.locator("[data-view=sign_in]").waitFor();
  for (const token of [researcher_token, admin_token]) {
    expect(requests.filter((url) => url.includes(token))).toEqual([]);
  }
  expect(
    requests.filter(
      (url) => !url.startsWith(`${server.console}/`) && !url.startsWith(server.compute),
    ),
  ).toEqual([]);
  expect(errors.filter((text) => !text.includes("401"))).toEqual([]);
  await volunteer.context.close();
  await context.close();
});
