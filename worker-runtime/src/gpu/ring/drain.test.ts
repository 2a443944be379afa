// Tests how the drain waits for a device that does not report by itself. The devices are fakes.

import { expect, test } from "vitest";
import { LIMIT_MS } from "../../../node/patience.ts";
import { RingWriter } from "../testing/ring_writer.fixture.ts";
import { Drain, type DrainOptions, restMs } from "./drain.ts";
import { type Capabilities, type Executor, noCounters } from "./executor.ts";
import { Backend, Capability, Word } from "./layout.ts";

/** A device that reports fences only when it is polled, from poll number `answersAt` on. */
class SilentDevice {
  asked = 0;
  readonly #answersAt: number;
  #reached: (() => void)[] = [];

  constructor(answersAt: number, flags = 0) {
    this.#answersAt = answersAt;
    this.executor.capabilities.flags = flags;
  }

  readonly executor = {
    capabilities: {
      backend: Backend.webgpu,
      flags: 0 as number,
      maxBufferBytes: 2 ** 20,
      maxBindingBytes: 2 ** 20,
      maxStorageBuffers: 8,
      maxWorkgroupBytes: 16384,
      maxInvocations: 128,
      maxWorkgroupX: 128,
      maxWorkgroupY: 128,
      maxWorkgroupZ: 64,
      maxGrid: 65535,
      maxUniformBytes: 65536,
      minSubgroup: 0,
      maxSubgroup: 0,
      device: "a\nsilent\ndevice\n",
    } satisfies Capabilities,
    counters: noCounters(),
    fence: (reached: () => void) => {
      this.#reached.push(reached);
    },
    submit: () => undefined,
    nudge: () => {
      this.asked += 1;
      if (this.asked >= this.#answersAt) this.answer();
    },
    destroy: () => {},
  };

  /** Reports that all fences are done. */
  answer(): void {
    for (const reached of this.#reached.splice(0)) reached();
  }
}

async function startDrain(
  device: SilentDevice,
  asks: boolean,
  byMessage: boolean,
  more: Partial<DrainOptions> = {},
) {
  const ring = new RingWriter({ ringWords: 1024 });
  const drain = new Drain({
    memory: ring.memory,
    controlAddress: ring.controlAddress,
    open: async () => device.executor as unknown as Executor,
    byMessage,
    asks,
    ...more,
  });
  const ended = drain.run();
  ring.postWake = () => drain.wake();
  return {
    ring,
    drain,
    end: async () => {
      ring.close();
      await ended;
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function isReachedWithin(ring: RingWriter, fence: number, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(1))
    if (ring.isReached(fence)) return true;
  return ring.isReached(fence);
}

// The 3rd poll comes while the drain is awake, the 20th long after it went to sleep.
test.each([
  { at: 1, byMessage: false },
  { at: 3, byMessage: false },
  { at: 20, byMessage: false },
  { at: 20, byMessage: true },
])("a device is asked until it answers ($at, by message: $byMessage)", async (example) => {
  const device = new SilentDevice(example.at);
  const { ring, end } = await startDrain(device, true, example.byMessage);
  for (let round = 1; round <= 2; round += 1) {
    const fence = ring.fence();
    ring.flush();
    expect(await isReachedWithin(ring, fence, LIMIT_MS)).toBe(true);
  }
  expect(device.asked).toBeGreaterThanOrEqual(example.at);
  const asked = device.asked;
  await pause(120);
  expect(device.asked).toBe(asked); // no fence is open
  await end();
});

test("questions become rare while there is no answer", async () => {
  const device = new SilentDevice(Number.POSITIVE_INFINITY);
  const { ring, end } = await startDrain(device, true, false);
  ring.fence();
  ring.flush();
  await pause(400);
  // While awake it polls 10 times, then with pauses of 1, 1, 1, 1.1, 1.7 ... ms. By poll 24, these add up to 100 ms.
  expect(device.asked).toBeGreaterThan(5);
  expect(device.asked).toBeLessThan(40);
  await end();
});

test("a device that answers by itself is not asked", async () => {
  const device = new SilentDevice(1);
  const { ring, end } = await startDrain(device, false, false);
  ring.fence();
  ring.flush();
  while (ring.load(Word.commands) < 1) await pause(1);
  await pause(50);
  expect(device.asked).toBe(0);
  await end();
});

test.each([
  [100, 1, 0],
  [100, 0.5, 100],
  [100, 0.25, 300],
  [60_000, 0.5, 2_000],
])("after %i ms of work a share of %d means %i ms of rest", (busy, share, rest) => {
  expect(restMs(busy, share)).toBe(rest);
});

test("a device of which a share is lent rests once its batch is done, others do not", async () => {
  const rests: number[] = [];
  const rest = async (ms: number) => void rests.push(ms);
  const device = new SilentDevice(1);
  const { ring, drain, end } = await startDrain(device, true, false, { share: 0.5, rest });
  const batch = async () => {
    const fence = ring.fence();
    ring.flush();
    expect(await isReachedWithin(ring, fence, LIMIT_MS)).toBe(true);
    await pause(20);
  };
  await batch();
  while (rests.length === 0) await pause(1);
  expect(Math.min(...rests)).toBeGreaterThan(0);
  const before = rests.length;
  drain.setShare(1);
  await batch();
  expect(rests).toHaveLength(before);
  await end();
});

test.each([
  ["a graphics card", 0, 8_000],
  ["a program on the CPU", Capability.fallbackAdapter, 60_000],
])("while %s computes, a poll may block the thread", async (_, flags, silenceMs) => {
  const device = new SilentDevice(Number.POSITIVE_INFINITY, flags);
  const promised: number[] = [];
  const nudge = device.executor.nudge;
  device.executor.nudge = () => {
    promised.push(ring.load(Word.silenceMs));
    nudge();
  };
  const { ring, end } = await startDrain(device, true, false);
  const fence = ring.fence();
  ring.flush();
  while (device.asked < 3) await pause(1);
  expect(new Set(promised)).toEqual(new Set([silenceMs]));
  device.answer();
  expect(await isReachedWithin(ring, fence, LIMIT_MS)).toBe(true);
  expect(ring.load(Word.silenceMs)).toBe(0);
  await end();
});
