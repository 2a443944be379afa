// Tests uploads of checkpoints and artifacts to a server that answers, is down, or refuses. Also tests downloads.

import { beforeEach, describe, expect, test } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import type { Checkpoint } from "../../protocol/index.ts";
import { ARTIFACT_MS } from "../machine/saving.ts";
import { CHECKPOINT_TRY_MS, Transfers } from "./transfers.ts";

const bytes = new Uint8Array([80, 75, 3, 4, 1]);
const head = { of: "checkpoint", format: "tree", step: 12, logged: 40 } as const;
const sha256 = await sha256Hex(bytes);
const saved = { attempt: 7, head, sha256, bytes, limitMs: null };
const STORED = { kind: "stored" };
const KEPT = { kind: "not_stored", keeps: true };
const artifact = {
  of: "artifact",
  id: "0f-1_a",
  name: "weights & Bälle.npz",
  type: "application/octet-stream",
  store: "",
} as const;
const file = { ...saved, head: artifact, limitMs: ARTIFACT_MS };

let now: number;
let asked: [url: string, init: RequestInit][];
let answers: (Response | Error)[];
let transfers: Transfers;

beforeEach(() => {
  now = 0;
  asked = [];
  answers = [];
  transfers = new Transfers({
    fetch: async (url, init) => {
      asked.push([url, init]);
      const answer = answers.shift() ?? new Error("away");
      if (answer instanceof Error) throw answer;
      return answer;
    },
    authorization: () => "Device d:s",
    random: () => 1,
    now: () => now,
    pause: async (ms) => {
      now += ms;
    },
  });
});

const never = new AbortController().signal;
const refusal = (status: number, code: string) =>
  new Response(JSON.stringify({ error: { code, message: "m" } }), { status });

describe("Saving", () => {
  test("names attempt, hash, format and steps, with the device's right.", async () => {
    answers = [new Response("{}", { status: 201 })];
    expect(await transfers.upload(saved, never)).toEqual(STORED);
    expect(asked[0]?.[0]).toBe(
      `/api/attempts/7/checkpoints/${sha256}?format=tree&step=12&logged=40`,
    );
    expect(asked[0]?.[1]).toMatchObject({
      method: "PUT",
      body: bytes,
      headers: { authorization: "Device d:s" },
    });
  });

  test("names no step where none was reported.", async () => {
    answers = [new Response("{}", { status: 200 })];
    await transfers.upload(
      { ...saved, head: { of: "checkpoint", format: "npz", step: null, logged: null } },
      never,
    );
    expect(asked[0]?.[0]).toMatch(/\?format=npz$/);
  });

  test("is tried again while the server is away or cannot write.", async () => {
    answers = [new Error("away"), refusal(503, "storage_unavailable"), new Response("{}")];
    expect(await transfers.upload(saved, never)).toEqual(STORED);
    expect(asked).toHaveLength(3);
    expect(now).toBe(500 + 1_000);
  });

  test("of an artifact is given up in time.", async () => {
    expect(await transfers.upload(file, never)).toEqual(KEPT);
    expect(now).toBeLessThanOrEqual(ARTIFACT_MS);
    expect(asked.length).toBeGreaterThan(10);
  });

  test("of a checkpoint has no time limit, as the trial goes on.", async () => {
    for (let tries = 0; tries < 100; tries += 1) answers.push(new Error("away"));
    answers.push(new Response("{}", { status: 201 }));
    expect(await transfers.upload(saved, never)).toEqual(STORED);
    expect(now).toBeGreaterThan(20 * 60_000);
  });

  test("on a line that is too slow for the checkpoint does not waste the volunteer's data.", async () => {
    const slow = new Transfers({
      fetch: async (url, init) => {
        asked.push([url, init]);
        now += CHECKPOINT_TRY_MS;
        throw new Error("The operation timed out.");
      },
      authorization: () => "Device d:s",
      random: () => 1,
      now: () => now,
      pause: async () => {},
    });
    expect(await slow.upload(saved, never)).toEqual(KEPT);
    expect(asked).toHaveLength(1);
  });

  test("too often is no error, and the next save replaces it.", async () => {
    answers = [refusal(429, "checkpoint_quota")];
    expect(await transfers.upload(saved, never)).toEqual({ kind: "not_stored", keeps: false });
  });

  test("for an attempt that has ended is no error, and the device keeps it.", async () => {
    answers = [refusal(404, "unknown_attempt")];
    expect(await transfers.upload(saved, never)).toEqual(KEPT);
  });

  test("for which there is no room is no error: the trial goes on.", async () => {
    const refusals: [number, string][] = [
      [507, "no_room"],
      [403, "quota_exceeded"],
      [403, "device_share"],
    ];
    for (const [status, code] of refusals) {
      answers = [refusal(status, code)];
      expect(await transfers.upload(saved, never)).toEqual(KEPT);
    }
    expect(asked).toHaveLength(refusals.length);
  });

  test("what the server will never take is refused with its code.", async () => {
    answers = [refusal(413, "checkpoint_too_large")];
    const answer = await transfers.upload(saved, never);
    expect(answer).toMatchObject({ kind: "refused", code: "checkpoint_too_large" });
    expect(asked).toHaveLength(1);
  });

  test("of an artifact names what it is, as an address needs it.", async () => {
    answers = [new Response("{}", { status: 201 })];
    expect(await transfers.upload(file, never)).toEqual(STORED);
    const url = new URL(asked[0]?.[0] ?? "", "http://server");
    expect(url.pathname).toBe(`/api/attempts/7/artifacts/${sha256}`);
    const { id, name, type } = artifact;
    expect(Object.fromEntries(url.searchParams)).toEqual({ id, name, type });
    answers = [new Response("{}", { status: 201 })];
    await transfers.upload({ ...file, head: { ...artifact, store: "./artifacts" } }, never);
    expect(asked[1]?.[0]).toMatch(/&store=.%2Fartifacts$/);
  });

  test("too often of an artifact is tried again: it is wanted itself.", async () => {
    answers = [refusal(429, "artifact_quota"), new Response("{}", { status: 201 })];
    expect(await transfers.upload(file, never)).toEqual(STORED);
    expect(asked).toHaveLength(2);
  });

  test("of an artifact for which there is no room tells the server's reason.", async () => {
    answers = [refusal(403, "quota_exceeded")];
    const answer = await transfers.upload(file, never);
    expect(answer).toEqual({ kind: "refused", code: "quota_exceeded", message: "m" });
  });

  test("ends when nobody waits for it.", async () => {
    const controller = new AbortController();
    controller.abort();
    expect(await transfers.upload(saved, controller.signal)).toEqual(KEPT);
    expect(asked).toHaveLength(0);
  });
});

describe("Loading", () => {
  const wanted = async (): Promise<Checkpoint> => ({
    attempt: 5,
    format: "tree",
    sha256: await sha256Hex(bytes),
    bytes: bytes.length,
  });

  test("gives the bytes whose hash was named.", async () => {
    answers = [new Response(bytes)];
    expect(await transfers.loadCheckpoint(9, await wanted(), never)).toEqual(bytes);
    expect(asked[0]?.[0]).toBe("/api/attempts/9/checkpoint");
  });

  test("tries again after other bytes, and gives up: the attempt begins anew.", async () => {
    answers = [new Response("other"), new Error("away"), new Response(bytes)];
    expect(await transfers.loadCheckpoint(9, await wanted(), never)).toEqual(bytes);
    answers = [new Response("other"), new Response("other"), new Response("other")];
    expect(await transfers.loadCheckpoint(9, await wanted(), never)).toBeNull();
    answers = [refusal(404, "unknown_blob"), new Response(bytes)];
    expect(await transfers.loadCheckpoint(9, await wanted(), never)).toBeNull();
  });
});
