// Tests that an attempt is kept while the volunteer is away for a while: hidden page, pause, lost connection.

import { beforeEach, describe, expect, test } from "vitest";
import { readFinished } from "./finished.ts";
import { COMPLETE, DEVICE, leaseOf, Scenario } from "./scenario.fixture.ts";

const LEASE_MS = leaseOf(1).lease_ms;
/** See KEPT_LEASES of rest.ts. */
const KEPT_MS = 4 * LEASE_MS;
const LEAVING = { kind: "leaving", isLeaving: true };
const PARK = { kind: "park", wanted: true };
const AWAKE = [
  { kind: "leaving", isLeaving: false },
  { kind: "park", wanted: false },
];
const RELEASED = { type: "release", attempt: 7, seq: 1, reason: "page_hidden" };

let s: Scenario;
beforeEach(() => {
  s = new Scenario();
});

/** Lets time pass in which the server answers each heartbeat. */
function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += 10_000) {
    s.after(Math.min(10_000, ms - passed)).hear({ type: "ack", attempt: 0 });
  }
}

const releases = () => s.sent.filter(({ type }) => type === "release");

describe("A hidden page", () => {
  test("lets its trial save, parks Python, and goes on where it was.", () => {
    s.running(7).on({ kind: "hidden" });
    expect(s.actions).toEqual([LEAVING]);
    expect(s.after(2_000).deeds).toEqual([PARK]);
    s.isParked = true;
    pass(60_000);
    expect(s.machine.isKept).toBe(true);
    const { sent } = s;
    expect(sent.length).toBeGreaterThan(3);
    for (const message of sent) {
      expect(message).toMatchObject({ type: "heartbeat", attempts: [{ attempt: 7 }] });
    }
    s.on({ kind: "visible" });
    expect(s.actions).toEqual(AWAKE);
    s.outcome(7);
    expect(s.sent).toMatchObject([{ type: "result", attempt: 7, next: true }]);
  });

  test("for a moment does not even park.", () => {
    s.running(7);
    for (let i = 0; i < 10; i += 1) s.on({ kind: "hidden" }).after(500).on({ kind: "visible" });
    const { actions } = s;
    expect(actions).not.toContainEqual(PARK);
    expect(actions.every(({ kind }) => kind === "leaving" || kind === "park")).toBe(true);
  });

  test("gives its attempt back after four leases, and disconnects.", () => {
    s.running(7).on({ kind: "hidden" }).after(2_000);
    s.isParked = true;
    pass(KEPT_MS - 2_001);
    expect(releases()).toEqual([]);
    s.after(1);
    expect(s.actions).toEqual([
      { kind: "send", message: RELEASED },
      { kind: "interrupt", attempt: 7 },
      ...AWAKE,
      { kind: "close", code: 1000 },
    ]);
    expect(s.machine.isKept).toBe(false);
  });

  test("leaves half of the time that the study allows for the run itself.", () => {
    s.running(7, { time_limit_ms: 100_000 }).on({ kind: "hidden" }).after(2_000);
    s.isParked = true;
    pass(47_999);
    expect(releases()).toEqual([]);
    pass(2);
    expect(releases()).toEqual([RELEASED]);
  });

  test("gives its attempt back soon if Python cannot be parked.", () => {
    s.running(7).on({ kind: "hidden" });
    pass(6_999);
    expect(releases()).toEqual([]);
    pass(1);
    expect(releases()).toEqual([RELEASED]);
  });

  test("keeps an attempt that waits for an answer: it is parked when it goes on.", () => {
    s.running(7).call(7, 1).on({ kind: "hidden" });
    pass(30_000);
    expect(releases()).toEqual([]);
    expect(s.machine.isKept).toBe(true);
  });

  test("keeps an attempt that loads.", () => {
    s.connected().lease(7).on({ kind: "hidden" });
    pass(30_000);
    expect(releases()).toEqual([]);
    s.on({ kind: "visible" }).on({ kind: "running", attempt: 7 }).outcome(7);
    expect(s.sent.at(-1)).toMatchObject({ type: "result", attempt: 7 });
  });

  test("delivers what ends before it is parked, asks for nothing more, and disconnects.", () => {
    s.running(7).on({ kind: "hidden" }).after(1_000).outcome(7, COMPLETE);
    expect(s.sent).toMatchObject([{ type: "result", attempt: 7, next: false }]);
    const answer = { type: "result_ack", attempt: 7, seq: 1, verdict: "accepted" } as const;
    expect(s.hear(answer).deeds.at(-1)).toEqual({ kind: "close", code: 1000 });
    expect(s.machine.isKept).toBe(false);
    expect(s.after(600_000).actions).toEqual([]);
  });

  test("whose attempt is revoked lets Python end and disconnects.", () => {
    s.running(7).on({ kind: "hidden" }).after(2_000);
    s.hear({ type: "revoke", attempt: 7, code: "cancelled", message: "" });
    expect(s.deeds).toEqual([
      LEAVING,
      PARK,
      { kind: "interrupt", attempt: 7 },
      ...AWAKE,
      { kind: "close", code: 1000 },
    ]);
  });

  test("connects again for the attempt that it keeps, and loses it only with its lease.", () => {
    s.running(7).on({ kind: "hidden" }).on({ kind: "closed", code: 1006 });
    expect(s.after(1_000).deeds).toContainEqual({ kind: "open" });
    s.on({ kind: "opened" }).welcome([7]);
    expect(s.machine.isKept).toBe(true);
    s.on({ kind: "closed", code: 1006 }).after(2_000).on({ kind: "opened" }).welcome([]);
    expect(s.machine.isKept).toBe(false);
    expect(s.deeds.at(-1)).toEqual({ kind: "close", code: 1000 });
  });

  test("that is stopped gives its attempt back at once.", () => {
    s.running(7).on({ kind: "hidden" }).after(2_000).on({ kind: "stop" });
    expect(releases()).toEqual([{ ...RELEASED, reason: "stopped" }]);
    expect(s.machine.nextDeadline()).toBeNull();
  });

  test("that closes gives its attempt back at once.", () => {
    s.running(7).on({ kind: "hidden" }).after(2_000).on({ kind: "left" });
    expect(releases()).toEqual([RELEASED]);
  });
});

describe("A result that is not delivered", () => {
  const answer = { type: "result_ack", attempt: 7, seq: 2, verdict: "accepted" } as const;

  function undelivered() {
    s.running(7).report(7, 0).on({ kind: "closed", code: 1006 }).outcome(7);
    const { undelivered: finished } = s.machine;
    if (finished == null) throw new Error("Nothing is kept.");
    return readFinished(structuredClone({ ...finished }));
  }

  test("is what a later visit delivers first, with its old numbers.", () => {
    s.running(7).report(7, 0).after(1_000).outcome(7);
    const { sent } = s;
    const finished = readFinished(structuredClone({ ...s.machine.undelivered }));
    s = new Scenario();
    s.on({ kind: "start", device: DEVICE, visible: true, finished }).on({ kind: "opened" });
    expect(s.sent).toMatchObject([{ type: "hello", attempts: [7] }]);
    expect(s.welcome([]).sent).toEqual(sent);
    s.hear(answer);
    expect(s.deeds).toContainEqual({ kind: "contributed", runMs: 1_500 });
    expect(s.machine.undelivered).toBeNull();
  });

  test("is kept without a connection, and over a stop.", () => {
    expect(undelivered()).toMatchObject({ lease: { attempt: 7 }, result: { type: "result" } });
    s.on({ kind: "stop" });
    expect(s.machine.undelivered).toBeUndefined();
  });

  test("is forgotten when the server does not know its attempt.", () => {
    const finished = undelivered();
    s = new Scenario();
    s.on({ kind: "start", device: DEVICE, visible: true, finished }).on({ kind: "opened" });
    s.welcome([]).hear({ type: "error", code: "unknown_attempt", message: "", attempt: 7 });
    expect(s.machine.undelivered).toBeNull();
    expect(s.sent.at(-1)).toEqual({ type: "ready" });
  });

  test.each([undefined, null, 5, {}, { lease: {}, reports: [], result: {}, runMs: 1 }])(
    "that was damaged is forgotten: %j",
    (stored) => {
      expect(readFinished(stored)).toBeNull();
    },
  );

  test("that names messages of another kind is forgotten.", () => {
    const finished = undelivered();
    const ready = { type: "ready" };
    expect(readFinished({ ...finished, result: ready })).toBeNull();
    expect(readFinished({ ...finished, reports: [ready] })?.reports).toEqual([]);
  });
});
