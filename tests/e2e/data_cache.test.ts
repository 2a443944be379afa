// Tests in Chromium that data come from another origin by a link, under the page's isolation and its policies, and from
// the server when that origin is away. The other origin is a proxy that passes everything on; nginx is tested in
// deploy/tests.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { CountingProxy } from "./counting_proxy.ts";
import { joinVolunteer, runPython, Server, type Volunteer } from "./stack.ts";

let server: Server;
let cdn: CountingProxy;
let cdnOrigin: string;
let browser: Browser;
let volunteer: Volunteer;

async function computes(seed: number): Promise<void> {
  const run = await runPython(server, ["tests/e2e/objectives/with_data.py", "--seed", `${seed}`]);
  expect(await run.done, run.output()).toBe(0);
}

/** Returns the requests for data since the last call, sorted and without their hashes. */
function dataRequests(): string[] {
  return volunteer.requests
    .splice(0)
    .filter((url) => url.includes("/blobs/"))
    .map((url) => url.replace(/\d+\/\d+\/[0-9a-f]{64}\//, "").replace(/[0-9a-f]{64}/, "HASH"))
    .sort();
}

beforeAll(async () => {
  const upstream = new URL("http://127.0.0.1:1");
  cdn = await CountingProxy.start(upstream);
  cdnOrigin = cdn.origin;
  server = await Server.start({ args: ["--data-url", cdnOrigin] });
  upstream.port = new URL(server.compute).port;
  browser = await launchChromium();
  volunteer = await joinVolunteer(browser, await server.joinUrl());
});
afterAll(async () => {
  await browser?.close();
  await cdn?.close().catch(() => {});
  await server?.dispose();
});

test("Data come by a link from the other origin, once for two trials, and the code from the server.", async () => {
  await computes(1);
  expect(dataRequests()).toEqual(
    [
      `${server.compute}/api/blobs/HASH`,
      `${server.compute}/api/blobs/HASH/link`,
      `${cdnOrigin}/blobs/HASH`,
    ].sort(),
  );
  expect(cdn.transfers).toMatchObject([{ status: 200, path: expect.stringMatching(/^\/blobs\//) }]);
});

test("Data come from the server if the other origin is away.", async () => {
  await cdn.close();
  await computes(2);
  expect(dataRequests()).toEqual(
    [
      `${server.compute}/api/blobs/HASH`,
      `${server.compute}/api/blobs/HASH/link`,
      `${cdnOrigin}/blobs/HASH`,
    ].sort(),
  );
  expect(volunteer.errors).toEqual([]);
});
