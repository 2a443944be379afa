// Measures, for six kinds of studies, that the bytes which the page names before Start are within 10 % of what the network
// then moves: as Chromium's network log counts them, of the page and all of its threads, and as a proxy counts them.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page, Request } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { en } from "../../../web-client/src/i18n/en.ts";
import { FIRST_VISIT_BYTES } from "../../../web-client/src/join/download/download.ts";
import { launchChromium, openProfile } from "../../../worker-runtime/node/chromium.ts";
import { CountingProxy } from "../counting_proxy.ts";
import { queueStudy, Server, type StudyRow, tapStart, until } from "../stack.ts";

const MIB = 1 << 20;
/** Below this the page says "less than", because the requests of a start alone have about so many bytes. */
const LITTLE = 100_000;

let server: Server;
let proxy: CountingProxy;
let browser: Browser;

beforeAll(async () => {
  server = await Server.start();
  proxy = await CountingProxy.start(server.compute);
  browser = await launchChromium({ webgpu: true });
});
afterAll(async () => {
  await browser?.close();
  await proxy?.close();
  await server?.dispose();
});

const queue = (kind: string, seed: number) =>
  queueStudy(server, ["tests/e2e/objectives/kinds.py", kind, "--seed", `${seed}`]);

const ended = (study: number) =>
  until("the end of the study", async () => {
    const { state, complete } = await server.api<StudyRow>(`/api/studies/${study}`);
    expect(state === "finished" ? complete : 1).toBe(1);
    return state === "finished";
  });

/** Returns the bytes that a text of the page names, such as "About 8.61 MB". */
function bytesIn(text: string | null): number {
  const [, number, unit] = /([\d.]+) (kB|MB)/.exec(text ?? "") ?? [];
  if (number === undefined) throw new Error(`There is no size in: ${text}`);
  return Number(number) * (unit === "MB" ? 1e6 : 1e3);
}

interface Measured {
  readonly said: string;
  /** The bytes of the network log: answers of the page and its threads, with headers. */
  readonly logged: number;
  /** The bytes of the answers' bodies that the proxy passed on. */
  readonly moved: number;
  readonly paths: readonly string[];
}

/** Opens the page, reads what it says, starts, and measures until the study has ended. */
async function measure(context: BrowserContext, study: number, place: string): Promise<Measured> {
  const page: Page = await context.newPage();
  await page.goto(await server.joinUrl(proxy.origin));
  // The page greets a device that it knows before it knows what must be fetched.
  const line = page.locator(place, { hasText: /[kM]B/ });
  await line.waitFor();
  const said = (await line.textContent()) ?? "";
  const finished: Promise<number>[] = [];
  context.on("requestfinished", (request: Request) => {
    const size = request
      .sizes()
      .then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize);
    finished.push(size.catch(() => 0));
  });
  proxy.take();
  await tapStart(page);
  await ended(study);
  await page.locator(".panel[data-phase=waiting]").waitFor();
  const logged = (await Promise.all(finished)).reduce((sum, size) => sum + size, 0);
  const transfers = proxy.take();
  const moved = transfers.reduce((sum, { bytes }) => sum + bytes, 0);
  const paths = transfers.map(({ path }) => path);
  await page.close({ runBeforeUnload: true });
  await server.untilNobodyIsConnected();
  console.log(`${said}: ${logged} bytes in the network log, ${moved} through the proxy`);
  return { said, logged, moved, paths };
}

const DOWNLOAD = ".fact:first-child strong";

function expectWithinTenth({ said, logged, moved }: Measured): void {
  const bytes = bytesIn(said);
  expect(Math.abs(logged / bytes - 1)).toBeLessThan(0.1);
  expect(Math.abs(moved / bytes - 1)).toBeLessThan(0.1);
}

test.each([
  ["a plain objective", "plain", 1],
  ["a Chainer model on WebGPU", "webgpu", 2],
  ["a Chainer model on the processor", "chainer", 3],
  ["a data set of 6 MiB", "data", 4],
  ["scikit-learn", "sklearn", 8],
] as const)("A first visit with %s fetches what the page said.", async (_, kind, seed) => {
  const study = await queue(kind, seed);
  const context = await browser.newContext({ locale: "en-US" });
  const measured = await measure(context, study, DOWNLOAD);
  expectWithinTenth(measured);
  const { paths } = measured;
  if (kind === "data") expect(measured.moved).toBeGreaterThan(6 * MIB);
  // Packs are fetched only for a study whose code imports them.
  expect(paths.some((path) => path.includes("/scipy-"))).toBe(kind === "sklearn");
  // array-core is fetched only for a study that asks for a device.
  expect(paths.some((path) => path.includes("/arraycore-"))).toBe(kind === "webgpu");
  if (kind === "plain") {
    // What the page says while no study is known.
    expect(Math.abs(measured.moved / FIRST_VISIT_BYTES - 1)).toBeLessThan(0.1);
  }
  await context.close();
});

test("A second visit has the runtime, and says so; new data are named, and data that were kept are not.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "hyperflock-profile-"));
  let profile = await openProfile(folder);
  try {
    expectWithinTenth(await measure(profile, await queue("data", 5), DOWNLOAD));
    for (const [kind, seed, most] of [
      ["plain", 6, LITTLE],
      ["data", 7, 7 * MIB],
      ["sklearn", 9, 12 * MIB],
      ["sklearn", 10, LITTLE],
    ] as const) {
      await profile.close();
      profile = await openProfile(folder);
      const measured = await measure(profile, await queue(kind, seed), ".panel-text");
      expect(measured.said).toContain(en.memory.text);
      if (most > LITTLE) expectWithinTenth(measured);
      else expect(bytesIn(measured.said)).toBe(LITTLE);
      expect(measured.moved).toBeLessThan(most);
    }
  } finally {
    await profile.close();
    await rm(folder, { recursive: true, force: true });
  }
});
