// Runs the cases that every executor must pass, on Dawn: with the executor on its own thread, woken by a memory word or
// by a message, and with the executor on the issuer's thread.

import { afterEach, describe, expect, test } from "vitest";
import { Drain } from "../ring/drain.ts";
import { Backend, Word } from "../ring/layout.ts";
import { openDawn } from "../thread/node_gpu.ts";
import { openWebGpu } from "../webgpu/webgpu_open.ts";
import { cases, makeStepper, step, stepped } from "./cases.fixture.ts";
import { dawnModule, type Rig, startThread } from "./dawn.fixture.ts";
import { RingWriter } from "./ring_writer.fixture.ts";

let rig: Rig | undefined;
afterEach(async () => {
  const errors = rig?.errors ?? [];
  await rig?.close();
  rig = undefined;
  expect(errors).toEqual([]);
});

describe("on a thread of its own", () => {
  test.each(cases)("$name", ({ run, name: _, ...options }) => {
    rig = startThread(options);
    run(rig.ring);
  });

  test("is woken by a message where it cannot sleep on a word, by one for each sleep", () => {
    rig = startThread({ byMessage: true });
    const { ring } = rig;
    makeStepper(ring);
    for (let i = 0; i < 20; i += 1) {
      step(ring, 1, i);
      ring.finish();
    }
    expect(ring.wakeMessages).toBeGreaterThan(0);
    expect(ring.wakeMessages).toBeLessThanOrEqual(ring.load(Word.sleepsTaken) + 1);
  });

  test("tells what device it has", () => {
    rig = startThread();
    const { ring } = rig;
    ring.finish();
    expect(ring.load(Word.backend)).toBe(Backend.webgpu);
    expect(ring.load(Word.maxStorageBuffers)).toBeGreaterThanOrEqual(8);
    expect(ring.load(Word.maxBindingBytes)).toBeGreaterThanOrEqual(128 * 2 ** 20);
    expect(ring.device()).toHaveLength(4);
    expect(ring.device()[0]).not.toBe("");
  });

  test("reads memory that grew after it began", () => {
    rig = startThread({ pages: 8, ringWords: 1024 });
    const { ring } = rig;
    ring.createBuffer(1, 2 ** 20);
    ring.finish();
    const data = new Uint8Array(2 ** 20).map((_, i) => i % 251);
    const from = ring.put(data);
    const to = ring.allocate(2 ** 20);
    ring.append(3, [1, 0, from, data.length]);
    ring.append(10, [1, 0, to, data.length]);
    ring.finish();
    expect(Buffer.from(ring.bytes(to, data.length)).equals(Buffer.from(data))).toBe(true);
  });
});

describe("on the issuer's thread", () => {
  test("executes in order and reports errors, driven by pump()", async () => {
    const gpu = await openDawn(dawnModule);
    const ring = new RingWriter({ ringWords: 65536 });
    const drain = new Drain({
      memory: ring.memory,
      controlAddress: ring.controlAddress,
      open: (events) => openWebGpu({ gpu, events }),
    });
    await drain.attach();
    makeStepper(ring);
    for (let i = 0; i < 1000; i += 1) step(ring, 1, i);
    const to = ring.allocate(4);
    ring.append(10, [1, 0, to, 4]);
    const pump = (seen: number, ms: number) => drain.pump(seen, ms);
    const first = ring.fence();
    ring.flush();
    await ring.waitFenceInProcess(first, pump);
    expect(new Uint32Array(ring.buffer, to, 1)[0]).toBe(stepped(1000, (i) => i));
    const position = ring.append(2, [99]);
    const second = ring.fence();
    ring.flush();
    await expect(ring.waitFenceInProcess(second, pump)).rejects.toMatchObject({
      outcome: "error",
      fault: { code: "unknownBuffer", position },
    });
    await ring.waitFenceInProcess(second, pump);
    ring.close();
    await drain.pump(0, 0);
  });
});
