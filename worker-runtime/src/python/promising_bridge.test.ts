// Tests the bridge of a python thread that shares no memory, with the agent's end of it. Both run on one thread and use
// messages.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { answerText, errorText } from "../channel/block.ts";
import { PostedAnswerer } from "../channel/posted_answerer.ts";
import { WINDOW_POINTS } from "./bridge.ts";
import { InterruptBuffer } from "./interrupt_buffer.ts";
import type { FromPython } from "./messages.ts";
import { type Posted, PromisingBridge } from "./promising_bridge.ts";

let said: FromPython[];
let interrupt: InterruptBuffer;
let now: number;
let bridge: PromisingBridge;
let agent: PostedAnswerer;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  said = [];
  interrupt = new InterruptBuffer(new Uint8Array(1));
  now = 0;
  bridge = new PromisingBridge({
    post: (message) => said.push(message),
    now: () => now,
    interrupt,
  });
  agent = new PostedAnswerer((message) => bridge.hear(message as Posted));
  bridge.begin(5);
});

afterEach(() => {
  vi.useRealTimers();
});

const calls = () => said.filter((message) => message.kind === "call");
const points = () => said.filter((message) => message.kind === "report").length;

test("Python is told to wait, and a call ends with its answer.", async () => {
  expect(bridge.module.promises).toBe(true);
  const answer = bridge.module.call("should_prune", "{}");
  expect(calls()).toEqual([
    { kind: "call", attempt: 5, sequence: 1, method: "should_prune", payload: "{}" },
  ]);
  agent.answer(1, answerText(true));
  expect(await answer).toBe(answerText(true));
});

test("An upload is a copy of Python's bytes, and ends with its answer.", async () => {
  const heap = new Uint8Array([1, 2, 3]);
  const buffer = (nbytes: number) => ({
    getBuffer: () => ({ data: heap, nbytes, release: () => {} }),
  });
  const saved = bridge.module.upload('{"of":"checkpoint"}', buffer(3));
  heap.fill(0);
  expect(said.filter((message) => message.kind === "upload")).toEqual([
    {
      kind: "upload",
      attempt: 5,
      sequence: 1,
      head: '{"of":"checkpoint"}',
      bytes: new Uint8Array([1, 2, 3]),
    },
  ]);
  agent.answer(1, answerText(true));
  expect(await saved).toBe(answerText(true));
  expect(await bridge.module.upload("{}", buffer(2 ** 26 + 1))).toContain("upload_too_large");
  expect(said.filter((message) => message.kind === "upload")).toHaveLength(1);
});

test("A late answer to a call that was given up is not the next one's.", async () => {
  const first = bridge.module.call("a", "{}");
  vi.advanceTimersByTime(120_000);
  expect(await first).toContain("call_timeout");
  const second = bridge.module.call("b", "{}");
  agent.answer(1, answerText("late"));
  agent.answer(2, answerText("right"));
  expect(await second).toBe(answerText("right"));
});

test("An interrupt is seen by Python, and ends what waits.", async () => {
  const call = bridge.module.call("a", "{}");
  agent.interrupt();
  expect(interrupt[0]).toBe(2);
  expect(await call).toBe(errorText("interrupted", "The attempt was ended."));
  bridge.begin(6);
  expect(interrupt[0]).toBe(0);
});

test("Reports wait for room, and go on when the server has some.", async () => {
  for (let i = 0; i < WINDOW_POINTS; i += 1) {
    expect(bridge.module.report(i, 0.5)).toBeUndefined();
  }
  const waits = bridge.module.report(WINDOW_POINTS, 0.5);
  expect(waits).toBeInstanceOf(Promise);
  expect(points()).toBe(WINDOW_POINTS);
  agent.setTaken(1);
  await waits;
  expect(points()).toBe(WINDOW_POINTS + 1);
});

test("A report that finds no room is an error, and another attempt has all of it.", async () => {
  for (let i = 0; i < WINDOW_POINTS; i += 1) bridge.module.report(i, 0.5);
  const waits = bridge.module.report(WINDOW_POINTS, 0.5);
  vi.advanceTimersByTime(120_000);
  await expect(waits).rejects.toThrow("took no reports");
  // The report that failed does not count as a report that waits for the agent.
  agent.setTaken(1);
  expect(bridge.module.report(WINDOW_POINTS, 0.5)).toBeUndefined();
  expect(points()).toBe(WINDOW_POINTS + 1);
  bridge.begin(6);
  expect(bridge.module.report(0, 0.5)).toBeUndefined();
});

test("Progress is told once a second at most.", () => {
  for (let i = 0; i < 1_000; i += 1) {
    now = i * 10;
    bridge.module.progress();
  }
  const told = said.filter((message) => message.kind === "progress");
  expect(told).toHaveLength(10);
  expect(told.at(-1)?.count).toBe(901);
  const last = told.at(-1);
  if (last !== undefined) agent.setProgress(last.count);
  expect(agent.progress).toBe(901);
});

test("What is too much for a call is an error on both sides.", async () => {
  expect(() => bridge.module.call("x".repeat(257), "{}")).toThrow("too long");
  expect(() => bridge.module.call("x", "x".repeat(65_537))).toThrow("at most");
  const answer = bridge.module.call("x", "{}");
  agent.answer(1, "é".repeat(200_000));
  expect(await answer).toContain("answer_too_large");
});
