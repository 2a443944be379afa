// Tests uploads of checkpoints and artifacts to a server that answers, is down, or refuses. Also tests downloads.

import { beforeEach, describe, expect, test } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import { answerText } from "../../channel/block.ts";
import type { Checkpoint } from "../../protocol/index.ts";
import { ALL_TRIES_MS, Transfers } from "./transfers.ts";

const bytes = new Uint8Array([80, 75, 3, 4, 1]);
const head = { of: "checkpoint", format: "tree", step: 12, logged: 40 } as const;
const saved = { attempt: 7, head, bytes };
const artifact = {
  of: "artifact",
  id: "0f-1_a",
  name: "weights & Bälle.npz",
  type: "application/octet-stream",
  store: "",
} as const;

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
    expect(await transfers.upload(saved, never)).toBe(answerText(true));
    const hash = await sha256Hex(bytes);
    expect(asked[0]?.[0]).toBe(`/api/attempts/7/checkpoints/${hash}?format=tree&step=12&logged=40`);
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
    expect(await transfers.upload(saved, never)).toBe(answerText(true));
    expect(asked).toHaveLength(3);
    expect(now).toBe(500 + 1_000);
  });

  test("is given up in time, and the trial goes on.", async () => {
    expect(await transfers.upload(saved, never)).toBe(answerText(false));
    expect(now).toBeLessThanOrEqual(ALL_TRIES_MS);
    expect(asked.length).toBeGreaterThan(10);
  });

  test("too often, or for an attempt that has ended, is no error.", async () => {
    for (const code of ["checkpoint_quota", "unknown_attempt"]) {
      answers = [refusal(429, code)];
      expect(await transfers.upload(saved, never)).toBe(answerText(false));
    }
  });

  test("for which there is no room is no error: the trial goes on.", async () => {
    const refusals: [number, string][] = [
      [507, "no_room"],
      [403, "quota_exceeded"],
      [403, "device_share"],
    ];
    for (const [status, code] of refusals) {
      answers = [refusal(status, code)];
      expect(await transfers.upload(saved, never)).toBe(answerText(false));
    }
    expect(asked).toHaveLength(refusals.length);
  });

  test("what the server will never take is refused with its code.", async () => {
    answers = [refusal(413, "checkpoint_too_large")];
    const answer = JSON.parse(await transfers.upload(saved, never));
    expect(answer).toMatchObject({ ok: false, error: { code: "checkpoint_too_large" } });
    expect(asked).toHaveLength(1);
  });

  test("of an artifact names what it is, as an address needs it.", async () => {
    answers = [new Response("{}", { status: 201 })];
    expect(await transfers.upload({ ...saved, head: artifact }, never)).toBe(answerText(true));
    const url = new URL(asked[0]?.[0] ?? "", "http://server");
    expect(url.pathname).toBe(`/api/attempts/7/artifacts/${await sha256Hex(bytes)}`);
    const { id, name, type } = artifact;
    expect(Object.fromEntries(url.searchParams)).toEqual({ id, name, type });
    answers = [new Response("{}", { status: 201 })];
    await transfers.upload({ ...saved, head: { ...artifact, store: "./artifacts" } }, never);
    expect(asked[1]?.[0]).toMatch(/&store=.%2Fartifacts$/);
  });

  test("too often of an artifact is tried again: it is wanted itself.", async () => {
    answers = [refusal(429, "artifact_quota"), new Response("{}", { status: 201 })];
    expect(await transfers.upload({ ...saved, head: artifact }, never)).toBe(answerText(true));
    expect(asked).toHaveLength(2);
  });

  test("of an artifact for which there is no room tells the server's reason.", async () => {
    answers = [refusal(403, "quota_exceeded")];
    const answer = JSON.parse(await transfers.upload({ ...saved, head: artifact }, never));
    expect(answer).toEqual({ ok: false, error: { code: "quota_exceeded", message: "m" } });
  });

  test("ends when nobody waits for it.", async () => {
    const controller = new AbortController();
    controller.abort();
    expect(await transfers.upload(saved, controller.signal)).toBe(answerText(false));
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
