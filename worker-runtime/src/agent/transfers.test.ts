// Checkpoints brought to a server that is there, away, or of another opinion; and fetched from it.

import { beforeEach, describe, expect, test } from "vitest";
import { answerText } from "../channel/block.ts";
import { sha256Hex } from "../hex.ts";
import type { Checkpoint } from "../protocol/index.ts";
import { Checkpoints, kUploadMs } from "./checkpoints.ts";

const bytes = new Uint8Array([80, 75, 3, 4, 1]);
const saved = { attempt: 7, format: "tree" as const, step: 12, bytes };

let now: number;
let asked: [url: string, init: RequestInit][];
let answers: (Response | Error)[];
let checkpoints: Checkpoints;

beforeEach(() => {
  now = 0;
  asked = [];
  answers = [];
  checkpoints = new Checkpoints({
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
  test("names attempt, hash, format and step, with the device's right.", async () => {
    answers = [new Response("{}", { status: 201 })];
    expect(await checkpoints.save(saved, never)).toBe(answerText(true));
    const hash = await sha256Hex(bytes);
    expect(asked[0]?.[0]).toBe(`/api/attempts/7/checkpoints/${hash}?format=tree&step=12`);
    expect(asked[0]?.[1]).toMatchObject({
      method: "PUT",
      body: bytes,
      headers: { authorization: "Device d:s" },
    });
  });

  test("names no step where none was reported.", async () => {
    answers = [new Response("{}", { status: 200 })];
    await checkpoints.save({ ...saved, format: "npz", step: null }, never);
    expect(asked[0]?.[0]).toMatch(/\?format=npz$/);
  });

  test("is tried again while the server is away or cannot write.", async () => {
    answers = [new Error("away"), refusal(503, "storage_unavailable"), new Response("{}")];
    expect(await checkpoints.save(saved, never)).toBe(answerText(true));
    expect(asked).toHaveLength(3);
    expect(now).toBe(500 + 1_000);
  });

  test("is given up in time, and the trial goes on.", async () => {
    expect(await checkpoints.save(saved, never)).toBe(answerText(false));
    expect(now).toBeLessThanOrEqual(kUploadMs);
    expect(asked.length).toBeGreaterThan(10);
  });

  test("too often, or for an attempt that has ended, is no error.", async () => {
    for (const code of ["checkpoint_quota", "unknown_attempt"]) {
      answers = [refusal(429, code)];
      expect(await checkpoints.save(saved, never)).toBe(answerText(false));
    }
  });

  test("what the server will never take is refused with its code.", async () => {
    answers = [refusal(413, "checkpoint_too_large")];
    const answer = JSON.parse(await checkpoints.save(saved, never));
    expect(answer).toMatchObject({ ok: false, error: { code: "checkpoint_too_large" } });
    expect(asked).toHaveLength(1);
  });

  test("ends when nobody waits for it.", async () => {
    const controller = new AbortController();
    controller.abort();
    expect(await checkpoints.save(saved, controller.signal)).toBe(answerText(false));
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
    expect(await checkpoints.load(9, await wanted(), never)).toEqual(bytes);
    expect(asked[0]?.[0]).toBe("/api/attempts/9/checkpoint");
  });

  test("tries again after other bytes, and gives up: the attempt begins anew.", async () => {
    answers = [new Response("other"), new Error("away"), new Response(bytes)];
    expect(await checkpoints.load(9, await wanted(), never)).toEqual(bytes);
    answers = [new Response("other"), new Response("other"), new Response("other")];
    expect(await checkpoints.load(9, await wanted(), never)).toBeNull();
    answers = [refusal(404, "unknown_blob"), new Response(bytes)];
    expect(await checkpoints.load(9, await wanted(), never)).toBeNull();
  });
});
