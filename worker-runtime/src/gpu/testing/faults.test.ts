// Tests that the issuer gets an error within a time limit if the executor's device or thread fails or is interrupted,
// and that the ring works again after a reset. The tests use Dawn, with the executor on its own thread.

import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { quickest } from "../../../node/patience.ts";
import { interrupt, markGone } from "../ring/control.ts";
import { SILENCE_MS, Word } from "../ring/layout.ts";
import { expectFault, makeStepper, readWords, step } from "./cases.fixture.ts";
import { dawnModule, type Rig, startThread } from "./dawn.fixture.ts";
import type { GpuHook } from "./gpu_hooks.fixture.ts";
import type { RingWriter } from "./ring_writer.fixture.ts";

let rig: Rig | undefined;
let startedAt = 0;
beforeEach(() => {
  startedAt = performance.now();
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

function start(...hooks: GpuHook[]): RingWriter {
  rig = startThread({ hooks });
  return rig.ring;
}

function worksAgain(ring: RingWriter): void {
  makeStepper(ring);
  step(ring, 1, 7);
  expect(readWords(ring, 1, 1)).toEqual([7]);
}

describe("the device", () => {
  test("is asked for again where there was no adapter at first", () => {
    worksAgain(start({ kind: "refuse_adapters", count: 1 }));
    expect(performance.now() - startedAt).toBeGreaterThan(500);
  });

  test("that is not there is a lasting error with a code, until a reset finds one", () => {
    const ring = start({ kind: "refuse_adapters", count: 2 });
    const error = expectFault(() => ring.finish(), "no adapter");
    expect(error.outcome).toBe("device_lost");
    expect(error.fault?.code).toBe("noAdapter");
    expect(expectFault(() => ring.finish(), "still none").outcome).toBe("device_lost");
    ring.reset();
    worksAgain(ring);
  });

  test("destroyed while work is under way ends the wait; a reset opens another", () => {
    const ring = start();
    makeStepper(ring);
    ring.finish();
    for (let i = 0; i < 1000; i += 1) step(ring, 1, i);
    rig?.apply({ kind: "destroy_device", refuse: 0 });
    const error = expectFault(() => {
      for (;;) {
        step(ring, 1, 1);
        ring.finish();
      }
    }, "destroyed");
    expect(error.outcome).toBe("device_lost");
    expect(error.fault?.code).toBe("deviceLost");
    expect(expectFault(() => ring.finish(), "still lost").outcome).toBe("device_lost");
    ring.reset();
    worksAgain(ring);
    expect(ring.load(Word.buffersLive)).toBe(1);
  });

  test("that does not come back makes the reset fail with a reason, and the next may work", () => {
    const ring = start();
    ring.finish();
    rig?.apply({ kind: "destroy_device", refuse: 2 });
    expectFault(() => {
      for (;;) ring.finish();
    }, "destroyed");
    expect(expectFault(() => ring.reset(), "reset").fault?.code).toBe("noAdapter");
    ring.reset();
    worksAgain(ring);
  });
});

describe("the executor's thread", () => {
  test("that ends silently is noticed within 2 s", async () => {
    const took = await quickest(2000, async () => {
      await rig?.close();
      const ring = start();
      ring.silenceMs = SILENCE_MS;
      makeStepper(ring);
      ring.finish();
      await rig?.worker.terminate();
      const endedAt = performance.now();
      step(ring, 1, 1);
      expect(expectFault(() => ring.finish(), "gone").outcome).toBe("executor_gone");
      return performance.now() - endedAt;
    });
    expect(took).toBeLessThan(2000);
  });

  test("whose end is told is noticed at once, and another one serves after a reset", async () => {
    const ring = start();
    makeStepper(ring);
    step(ring, 1, 1);
    ring.finish();
    await rig?.worker.terminate();
    markGone(ring.memory, ring.controlAddress);
    const took = await quickest(500, () => {
      const toldAt = performance.now();
      expect(expectFault(() => ring.finish(), "gone").outcome).toBe("executor_gone");
      return performance.now() - toldAt;
    });
    expect(took).toBeLessThan(500);
    const second = new Worker(new URL("../thread/gpu_thread_node.ts", import.meta.url), {
      workerData: dawnModule,
    });
    second.postMessage({
      kind: "open",
      memory: ring.memory,
      controlAddress: ring.controlAddress,
    });
    ring.reset();
    worksAgain(ring);
    ring.close();
    await new Promise((resolve) => second.once("message", resolve));
    await second.terminate();
  });
});

describe("an issuer that is blocked in a long fence", () => {
  let helper: Worker | undefined;
  afterEach(async () => {
    await helper?.terminate();
    helper = undefined;
  });

  // Interrupts from another thread, because the test's thread is blocked. `clock` gets the time of the interrupt.
  function interruptLater(ring: RingWriter, kind: "once" | "revoke"): Float64Array {
    const clock = new Float64Array(ring.buffer, ring.allocate(8), 1);
    const { memory, controlAddress } = ring;
    const module = new URL("../ring/control.ts", import.meta.url).href;
    helper = new Worker(
      `const { workerData } = require("node:worker_threads");
       const { memory, controlAddress, kind, clock } = workerData;
       import(workerData.module).then(({ interrupt }) => setTimeout(() => {
         clock[0] = Date.now();
         interrupt(memory, controlAddress, kind);
       }, 100));`,
      { eval: true, workerData: { module, memory, controlAddress, kind, clock } },
    );
    return clock;
  }

  test.each(["once", "revoke"] as const)("of 10 s is interrupted: %s", async (kind) => {
    let fence = 0;
    const took = await quickest(1000, async () => {
      await helper?.terminate();
      await rig?.close();
      const ring = start({ kind: "stall", ms: 10_000 });
      makeStepper(ring);
      step(ring, 1, 3);
      fence = ring.fence();
      ring.flush();
      const clock = interruptLater(ring, kind);
      const error = expectFault(() => ring.waitFence(fence), "interrupt");
      const ms = Date.now() - (clock[0] ?? 0);
      expect(error.outcome).toBe(kind === "once" ? "interrupted" : "revoked");
      expect(ring.isReached(fence)).toBe(false);
      return ms;
    });
    expect(took).toBeLessThan(1000);
    const { ring } = rig as Rig;
    if (kind === "revoke") {
      // The interrupt `revoke` stays set, so every later wait fails too.
      expect(expectFault(() => ring.waitFence(fence), "revoked").outcome).toBe("revoked");
      return;
    }
    ring.reset();
    worksAgain(ring);
  });

  test("that is not waiting finds the interrupt at its next wait, once", () => {
    const ring = start();
    interrupt(ring.memory, ring.controlAddress, "once");
    expect(expectFault(() => ring.finish(), "interrupt").outcome).toBe("interrupted");
    ring.finish();
  });
});
