// Tests how the bridge rests between steps. This thread is the python thread.

import { Worker } from "node:worker_threads";
import { beforeEach, expect, test } from "vitest";
import { Answerer } from "../channel/answerer.ts";
import { type Block, createBlock } from "../channel/block.ts";
import { Bridge } from "./bridge.ts";

/** Waits until the thread is parked, and lets it go on. The numbers are those of block.ts. */
const KEEPER = `
  const header = new Int32Array(require("node:worker_threads").workerData, 0, 16);
  while (Atomics.load(header, 7) !== 2) Atomics.wait(header, 8, 0, 5);
  Atomics.store(header, 7, 0);
  Atomics.notify(header, 7);
`;

let block: Block;
let agent: Answerer;
let looks: number;
let onLook: () => void;
let bridge: Bridge;

beforeEach(() => {
  block = createBlock();
  agent = new Answerer(block);
  looks = 0;
  onLook = () => {};
  bridge = new Bridge(
    block,
    () => {},
    () => {
      looks += 1;
      onLook();
    },
  );
  bridge.begin(1);
});

/** Works for at least `ms` and reports a step. Returns the time of the work and of the report. */
function step(ms: number): { readonly workMs: number; readonly reportMs: number } {
  bridge.module.progress();
  const began = performance.now();
  while (performance.now() < began + ms);
  const worked = performance.now();
  bridge.module.progress();
  return { workMs: worked - began, reportMs: performance.now() - worked };
}

test("A step is followed by a rest of its length if half of the time is lent.", () => {
  agent.setLent(0.5);
  const { workMs, reportMs } = step(60);
  expect(reportMs).toBeGreaterThanOrEqual(workMs * 0.95);
  expect(looks).toBeGreaterThan(0);
});

test("The processor's speed is measured between steps, at most every two seconds.", () => {
  expect(agent.reference).toBeNull();
  step(20);
  step(20);
  expect(agent.reference?.number).toBe(1);
  expect(agent.reference?.us).toBeGreaterThan(0);
});

test("Without a share, and with all of the time, there is no rest.", () => {
  step(60);
  agent.setLent(1);
  step(60);
  expect(looks).toBe(0);
});

test("An interrupt ends a rest.", () => {
  agent.setLent(0.01);
  onLook = () => {
    throw new Error("KeyboardInterrupt");
  };
  expect(() => step(60)).toThrow("KeyboardInterrupt");
  expect(looks).toBe(1);
});

test("A new share ends a rest, and the thread counts as alive meanwhile.", () => {
  agent.setLent(0.01);
  const before = agent.progress;
  onLook = () => agent.setLent(1);
  step(60);
  expect(looks).toBe(1);
  expect(agent.progress - before).toBe(3);
});

test("A share outlives the attempt, as a thread runs several.", () => {
  agent.setLent(0.5);
  agent.reset();
  bridge.begin(2);
  step(30);
  expect(looks).toBeGreaterThan(0);
});

test("A parked thread waits where it is, alive, until it may go on or is interrupted.", () => {
  const before = agent.progress;
  const began = performance.now();
  agent.setParked(true);
  expect(agent.isParked).toBe(false);
  const keeper = new Worker(KEEPER, { eval: true, workerData: block.memory });
  bridge.park();
  expect(performance.now() - began).toBeGreaterThan(1);
  expect(agent.progress).toBeGreaterThan(before);
  expect(agent.isParked).toBe(false);
  agent.setParked(true);
  agent.interrupt();
  bridge.park();
  agent.reset();
  void keeper.terminate();
});

test("A thread without an attempt is not parked.", () => {
  const idle = new Bridge(
    block,
    () => {},
    () => {},
  );
  agent.setParked(true);
  idle.park();
  expect(agent.isParked).toBe(false);
});

test("Python learns that the device may soon be gone, until the next attempt.", () => {
  expect(bridge.module.leaving()).toBe(false);
  agent.setLeaving(true);
  expect(bridge.module.leaving()).toBe(true);
  agent.reset();
  expect(bridge.module.leaving()).toBe(false);
});
