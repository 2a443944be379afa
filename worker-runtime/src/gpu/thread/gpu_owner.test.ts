// Tests how the owner of a gpu thread reacts when the thread ends or fails, or when the ring requests another thread.
// The threads are fakes.

import { expect, test } from "vitest";
import { INTERRUPT_REVOKE, State, Word } from "../ring/layout.ts";
import { RingWriter } from "../testing/ring_writer.fixture.ts";
import type { ToGpuThread } from "./gpu_messages.ts";
import { GpuThreadOwner, type GpuWorkerEvents } from "./gpu_owner.ts";

class Stand {
  readonly got: ToGpuThread["kind"][] = [];
  ended = false;
  readonly events: GpuWorkerEvents;

  constructor(events: GpuWorkerEvents) {
    this.events = events;
  }

  post(message: ToGpuThread): void {
    this.got.push(message.kind);
  }

  async terminate(): Promise<void> {
    this.ended = true;
  }
}

function setUp() {
  const threads: Stand[] = [];
  const reports: string[] = [];
  const owner = new GpuThreadOwner(
    (events) => {
      const thread = new Stand(events);
      threads.push(thread);
      return thread;
    },
    (text) => reports.push(text),
  );
  const ring = new RingWriter();
  const open = () =>
    owner.receive({ kind: "open", memory: ring.memory, controlAddress: ring.controlAddress });
  return { owner, threads, reports, ring, open };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

test("A thread is there before it is asked for, and gets every message.", () => {
  const { owner, threads, open } = setUp();
  expect(threads).toHaveLength(1);
  open();
  owner.receive({ kind: "wake" });
  expect(threads[0]?.got).toEqual(["open", "wake"]);
});

test("The ring is told at once when its thread has ended; the next opening starts another.", async () => {
  const { threads, reports, ring, open } = setUp();
  open();
  ring.store(Word.state, State.running);
  const signal = ring.load(Word.signal);
  threads[0]?.events.ended("It fell over.");
  expect(ring.load(Word.state)).toBe(State.gone);
  expect(ring.load(Word.signal)).not.toBe(signal);
  expect(reports).toEqual(["It fell over."]);
  expect(threads).toHaveLength(1);
  open();
  await settled();
  expect(threads).toHaveLength(2);
  expect(threads[1]?.got).toEqual(["open"]);
});

test("A ring that is opened again gets another thread, after the old one has ended.", async () => {
  const { threads, ring, open } = setUp();
  open();
  ring.store(Word.state, State.running);
  open();
  expect(threads).toHaveLength(1);
  await settled();
  expect(threads[0]?.ended).toBe(true);
  expect(threads[1]?.got).toEqual(["open"]);
  // Later messages of the old thread have no effect.
  threads[0]?.events.ended("late");
  expect(ring.load(Word.state)).toBe(State.running);
});

test("A new ring is served by the thread that served the last one.", () => {
  const { threads, ring, open } = setUp();
  open();
  ring.store(Word.state, State.absent);
  open();
  expect(threads).toHaveLength(1);
  expect(threads[0]?.got).toEqual(["open", "open"]);
});

test("A thread that ended before it had a ring is started again for one.", async () => {
  const { threads, open } = setUp();
  threads[0]?.events.ended("no WebGPU module");
  open();
  await settled();
  expect(threads[1]?.got).toEqual(["open"]);
});

test("The memory of a closed ring is left alone, whoever uses it now.", () => {
  const { threads, ring, open } = setUp();
  open();
  ring.store(Word.state, State.closed);
  threads[0]?.events.ended("after its work");
  expect(ring.load(Word.state)).toBe(State.closed);
  open();
  ring.store(Word.magic, 0);
  ring.store(Word.state, 77);
  threads[0]?.events.ended("long after its work");
  expect(ring.load(Word.state)).toBe(77);
});

test("It is idle once its ring is closed or its thread has ended.", async () => {
  const { owner, threads, open } = setUp();
  await owner.idle();
  open();
  const closed = owner.idle();
  threads[0]?.events.said({ kind: "closed" });
  await closed;
  open();
  const ended = owner.idle();
  threads[0]?.events.ended("gone");
  await ended;
});

test("A revoke reaches a ring that was opened before the end of the last one was told.", () => {
  const { owner, threads, ring, open } = setUp();
  open();
  open(); // the first ring is closed, but its thread has not reported it yet
  threads[0]?.events.said({ kind: "closed" });
  owner.interrupt("revoke");
  expect(ring.load(Word.interrupt)).toBe(INTERRUPT_REVOKE);
});

test("A revoke reaches the ring.", () => {
  const { owner, ring, open } = setUp();
  owner.interrupt("revoke");
  expect(ring.load(Word.interrupt)).toBe(0);
  open();
  owner.interrupt("revoke");
  expect(ring.load(Word.interrupt)).toBe(INTERRUPT_REVOKE);
});

test("An owner that has ended starts nothing more.", async () => {
  const { owner, threads } = setUp();
  await owner.terminate();
  threads[0]?.events.ended("as asked");
  await settled();
  expect(threads).toHaveLength(1);
  expect(threads[0]?.ended).toBe(true);
});
