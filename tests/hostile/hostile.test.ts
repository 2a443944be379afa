// The hostile set: what a trial's code may try against the volunteer, the server and the next trial, with the real
// parts. Each row of table.py is one attack. One volunteer's page in Chromium runs all of them. Each must end as the
// table says and leave no trace. After each, a trial of another study on the same device must give the right value.
//
// HOSTILE=short runs the rows that `./run test` runs. HOSTILE=A,B runs the rows whose name contains the text A or B.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";
import { joinVolunteer, Server, type StudyRow, type Volunteer } from "../e2e/stack.ts";
import { Researcher, table } from "./researcher.ts";
import { Sink } from "./sink.ts";

/** Returns the study's time limit in seconds. It is short if it must end the attack; otherwise no attack reaches it. */
const limitOf = (end: string) => (end.startsWith("timeout") ? 3 : LIMIT_MS / 1000);
/**
 * The most lines that a trial may write to the browser's console in each second, and those at the trial's end. The
 * runtime writes about 50 lines in a second, and the newest 1,000 at the end.
 */
const LINES_PER_SECOND = 60;
const LINES_AT_END = 1_001;

const wanted = process.env.HOSTILE ?? "";
const rows = table().filter(({ name, short }) =>
  wanted === "short" ? short : wanted.split(",").some((part) => name.includes(part)),
);

// The browser inherits this time zone, which no trial may find out.
process.env.TZ = "Asia/Kathmandu";

let server: Server;
let browser: Browser;
let volunteer: Volunteer;
let sink: Sink;
let researcher: Researcher;
let device: string | null = null;
let stored: string;
let turn = 0;
const lines: string[] = [];
let hasCrashed = false;

/** What the page itself writes to localStorage while trials run. */
const OWN_NOTES = ["hyperflock.running", "hyperflock.computed-today"];

/**
 * Returns, as text, what the browser stores for the join page's origin: the names of databases, files and caches, the
 * device's identity, and each kept file of the page with the hash of its bytes.
 */
function storedByBrowser(): Promise<string> {
  return volunteer.page.evaluate(async (ownNotes) => {
    const databases = (await indexedDB.databases()).map(({ name }) => name).sort();
    const identity = await new Promise((resolve) => {
      const opening = indexedDB.open("hyperflock");
      opening.onsuccess = () => {
        const all = opening.result.transaction("devices").objectStore("devices").getAll();
        all.onsuccess = () => {
          opening.result.close();
          resolve(all.result.map(({ device, secret }) => ({ device, secret })));
        };
      };
    });
    const files: string[] = [];
    const root = await navigator.storage.getDirectory();
    for await (const name of (root as unknown as { keys(): AsyncIterable<string> }).keys()) {
      files.push(name);
    }
    const caches_ = (await caches.keys()).sort();
    const shell: string[] = [];
    const strangers: string[] = [];
    for (const name of caches_) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) {
        const path = request.url.slice(location.origin.length);
        if (name.startsWith("hyperflock-shell-") && /^\/(join$|app\/)/.test(path)) {
          const bytes = await (await cache.match(request))?.arrayBuffer();
          const digest = await crypto.subtle.digest("SHA-256", bytes ?? new ArrayBuffer());
          shell.push(
            `${path} ${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`,
          );
        } else if (!/^\/api\/blobs\/[0-9a-f]{64}$/.test(path)) {
          strangers.push(path);
        }
      }
    }
    return JSON.stringify({
      databases,
      identity,
      files,
      caches: caches_.map((name) => name.replace(/^hyperflock-shell-[0-9a-f]{16}$/, "shell")),
      shell: shell.sort(),
      strangers,
      // Leaves out the page's own notes, because they change with each trial.
      local: Object.fromEntries(
        Object.entries(localStorage).filter(([key]) => !ownNotes.includes(key)),
      ),
      session: { ...sessionStorage },
      cookies: document.cookie,
    });
  }, OWN_NOTES);
}

/** Returns whether each blob in the cache has the hash in its name. If not, a trial has changed the cache. */
function cacheIsWhole(): Promise<boolean> {
  return volunteer.page.evaluate(async () => {
    const cache = await caches.open("hyperflock-blobs");
    for (const request of await cache.keys()) {
      const bytes = await (await cache.match(request))?.arrayBuffer();
      const digest = await crypto.subtle.digest("SHA-256", bytes ?? new ArrayBuffer());
      const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
      if (!request.url.endsWith(hex.join(""))) return false;
    }
    return true;
  });
}

async function expectRightNeighbour(backend: string | null = null): Promise<void> {
  turn += 1;
  const next = await researcher.neighbour(turn, LIMIT_MS / 1000, backend);
  expect(next, next.message).toMatchObject({ end: "complete", values: [next.expected] });
  device ??= next.device;
  expect(next.device, "the same device ran it").toBe(device);
}

beforeAll(async () => {
  sink = await Sink.open();
  // Heartbeats are so frequent that the server learns within a second that an attempt runs.
  server = await Server.start({ args: ["--lease-ms", "20000", "--heartbeat-ms", "1000"] });
  browser = await launchChromium({ webgpu: rows.some(({ backend }) => backend !== null) });
  volunteer = await joinVolunteer(browser, await server.joinUrl());
  volunteer.page.on("crash", () => {
    hasCrashed = true;
  });
  volunteer.page.on("console", (message) => lines.push(message.text()));
  await volunteer.page.evaluate(() => {
    const heard: string[] = [];
    new BroadcastChannel("hostile").onmessage = (event) => heard.push(String(event.data));
    Object.assign(globalThis, { heard });
  });
  researcher = await Researcher.start(server);
  await expectRightNeighbour();
  await volunteer.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  stored = await storedByBrowser();
});

afterAll(async () => {
  researcher?.close();
  await browser?.close();
  await server?.dispose();
  sink?.close();
});

describe("the places where an escape would show", () => {
  test("The sink writes down whatever arrives.", async () => {
    await fetch(`${sink.url}/control`);
    expect(sink.contacts).toContain("GET /control");
    sink.contacts.length = 0;
  });

  test("The browser keeps the device's identity, its projects and files by their hash, and nothing else.", async () => {
    expect(JSON.parse(stored)).toMatchObject({
      databases: ["hyperflock", "hyperflock.projects"],
      identity: [{ device }],
      files: [],
      caches: ["hyperflock-blobs", "shell"],
      strangers: [],
      local: {},
      session: {},
      cookies: "",
    });
    expect(await cacheIsWhole()).toBe(true);
    const { shell } = JSON.parse(stored) as { shell: string[] };
    expect(shell.length).toBeGreaterThan(5);
    for (const kept of shell) {
      const [path = ""] = kept.split(" ");
      const bytes = await (await fetch(`${server.compute}${path}`)).arrayBuffer();
      const digest = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
      expect(kept, "a kept file is the server's").toBe(`${path} ${digest}`);
    }
  });

  test("The page is in a time zone that trials will try to find out.", async () => {
    expect(await volunteer.page.evaluate(() => new Date(0).getTimezoneOffset())).toBe(-330);
  });

  test("The page hears the channel on which trials will try to speak.", async () => {
    await volunteer.page.evaluate(() => new BroadcastChannel("hostile").postMessage("control"));
    await volunteer.page.waitForFunction(() => {
      const { heard } = globalThis as unknown as { heard: string[] };
      return heard.splice(0).includes("control");
    });
  });
});

describe("attempts", () => {
  test.each(rows)("$name ends as: $end", async ({ name, end, backend, trials }) => {
    const linesBefore = lines.length;
    const begun = performance.now();
    const params = { sink: sink.url, compute: server.compute, console: server.console };
    const ended = await researcher.attempt(name, params, limitOf(end));

    expect(ended.end, ended.message).toBe(end);
    expect(ended.values, "what an attempt gives that found no way").toEqual(
      end === "complete" ? [0] : [],
    );
    expect(ended.message.length).toBeLessThanOrEqual(1_024);
    if (ended.device !== null) expect(ended.device, "its own device's result").toBe(device);

    const crashed = volunteer.errors.filter((text) => /hostile/.test(text) && !/line/.test(text));
    expect(crashed).toEqual([]);
    await expectRightNeighbour(backend);
    const seconds = (performance.now() - begun) / 1000;
    expect(lines.length - linesBefore).toBeLessThan(seconds * LINES_PER_SECOND + LINES_AT_END);

    expect(hasCrashed, "the volunteer's page lives").toBe(false);
    expect(sink.contacts, "nothing reached the stranger").toEqual([]);
    expect(
      volunteer.requests.filter((url) => !/^(blob|data):/.test(url) && !isOwn(url)),
      "nothing was asked of another origin",
    ).toEqual([]);
    expect(await storedByBrowser(), "what the browser keeps").toBe(stored);
    expect(await cacheIsWhole()).toBe(true);
    const heard = await volunteer.page.evaluate(
      () => (globalThis as unknown as { heard: string[] }).heard,
    );
    expect(heard, "nobody spoke past the agent").toEqual([]);
    await expectResults(ended.study, trials);
  });
});

function isOwn(url: string): boolean {
  return new URL(url).origin === server.compute;
}

/** Checks that the study has ended with its trials, and that every study has as many results as trials. */
async function expectResults(study: number, trials: number): Promise<void> {
  const { studies } = await server.api<{ studies: StudyRow[] }>("/api/studies");
  for (const row of studies) {
    expect(row.complete + row.failed, row.name).toBe(row.total);
  }
  expect(studies.find((row) => row.study === study)?.total).toBe(trials);
}

describe("afterwards", () => {
  test("What a trial leaves running ends with its turn.", async () => {
    const count = lines.filter((line) => line.includes("hostile tick")).length;
    if (rows.some(({ name }) => name === "runtime.lingers")) expect(count).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(lines.filter((line) => line.includes("hostile tick"))).toHaveLength(count);
  });

  test("The server noticed nothing but studies: no error, no refused session.", async () => {
    expect(server.log.split("\n").filter((line) => /"level":"error"|refused/.test(line))).toEqual(
      [],
    );
  });
});
