// Tests that the agent's state machine follows the protocol's rules for a device.

import { beforeEach, describe, expect, test } from "vitest";
import { answerText, errorText } from "../../channel/block.ts";
import { parseClientMessage, serialize } from "../../protocol/index.ts";
import { CLOSE_SILENT } from "./machine.ts";
import { DEVICE, HEARTBEAT_MS, leaseOf, Scenario } from "./scenario.fixture.ts";
import { INTERRUPT_GRACE_MS } from "./work.ts";

/** What lets Python go on, or end, after a pause. */
const AWAKE = [
  { kind: "leaving", isLeaving: false },
  { kind: "park", wanted: false },
];

let s: Scenario;

beforeEach(() => {
  s = new Scenario();
});

const heartbeat = (...attempts: object[]) => ({ type: "heartbeat", attempts });
const resultAck = (attempt: number, seq: number, lease?: ReturnType<typeof leaseOf>) => ({
  type: "result_ack" as const,
  attempt,
  seq,
  verdict: "accepted" as const,
  ...(lease === undefined ? {} : { lease }),
});

describe("Joining", () => {
  test("A new device loads Python while it joins, then connects.", () => {
    s.on({ kind: "start", device: null, visible: true });
    expect(s.actions).toEqual([{ kind: "warm" }, { kind: "join" }]);
    s.on({ kind: "joined", device: DEVICE });
    expect(s.actions).toEqual([{ kind: "open" }]);
  });

  test("A known device does not join again.", () => {
    expect(s.started().actions).toEqual([{ kind: "warm" }, { kind: "open" }]);
  });

  test("A page that is hidden starts nothing before it is visible.", () => {
    s.on({ kind: "start", device: DEVICE, visible: false });
    expect(s.actions).toEqual([]);
    s.on({ kind: "visible" });
    expect(s.actions).toEqual([{ kind: "warm" }, { kind: "open" }]);
  });

  test("A page that hides and shows itself while joining joins once.", () => {
    s.on({ kind: "start", device: null, visible: true }).on({ kind: "hidden" });
    s.on({ kind: "visible" }).on({ kind: "joined", device: DEVICE });
    expect(s.actions.filter(({ kind }) => kind === "join")).toHaveLength(1);
  });

  test("A hidden page does not try to join again before it is visible.", () => {
    const failure = { kind: "join_failed" as const, code: "unreachable", message: "m" };
    s.on({ kind: "start", device: null, visible: true }).on({ ...failure, permanent: false });
    s.on({ kind: "hidden" });
    expect(s.after(60_000).actions.map(({ kind }) => kind)).toEqual(["warm", "join"]);
    s.on({ kind: "visible" });
    expect(s.actions).toContainEqual({ kind: "join" });
  });

  test("A join that did not get through is tried again after a pause, a refused one is the end.", () => {
    const failure = { kind: "join_failed" as const, code: "unreachable", message: "m" };
    s.on({ kind: "start", device: null, visible: true }).on({ ...failure, permanent: false });
    expect(s.after(999).actions).toEqual([{ kind: "warm" }, { kind: "join" }]);
    expect(s.after(1).actions).toEqual([{ kind: "join" }]);
    s.on({ ...failure, code: "bad_enrolment_code", permanent: true });
    expect(s.machine.mode).toEqual({ kind: "failed", code: "bad_enrolment_code", message: "m" });
    expect(s.machine.nextDeadline()).toBeNull();
  });
});

describe("Opening", () => {
  test("R6 The first message is hello, and ready follows the welcome.", () => {
    s.started().on({ kind: "opened" });
    expect(s.sent).toMatchObject([{ type: "hello", role: "device", ...DEVICE, attempts: [] }]);
    s.welcome();
    expect(s.sent).toEqual([{ type: "ready" }]);
  });

  test("R6 A refusal ends the work with its code.", () => {
    s.started().on({ kind: "opened" });
    s.hear({ type: "refused", code: "banned", message: "No." });
    expect(s.machine.mode).toEqual({ kind: "failed", code: "banned", message: "No." });
  });

  test("R6 A full server is left alone for at least 5 s.", () => {
    s.started().on({ kind: "opened" });
    s.hear({ type: "refused", code: "full", message: "Later." });
    expect(s.actions.some(({ kind }) => kind === "close")).toBe(true);
    expect(s.after(5_000).actions).toEqual([]);
    expect(s.after(500).actions).toEqual([{ kind: "open" }]);
  });

  test("R6 bad_token makes a new device once, then it is the end.", () => {
    const refused = { type: "refused" as const, code: "bad_token", message: "Unknown." };
    s.on({ kind: "start", device: null, visible: true }).on({ kind: "joined", device: DEVICE });
    s.on({ kind: "opened" }).welcome().lease(7).on({ kind: "running", attempt: 7 });
    s.on({ kind: "closed", code: 1006 }).after(500).on({ kind: "opened" });
    expect(s.sent.at(-1)).toMatchObject({ type: "hello", attempts: [7] });
    s.hear(refused);
    expect([s.machine.device, s.machine.attempt]).toEqual([null, null]);
    expect(s.deeds.map(({ kind }) => kind)).toEqual([
      "forget_device",
      "close",
      "terminate",
      "warm",
      "join",
    ]);
    s.on({ kind: "joined", device: { device: "d_2", secret: "hfd_2" } }).on({ kind: "opened" });
    expect(s.sent).toMatchObject([{ type: "hello", device: "d_2" }]);
    s.hear(refused);
    expect(s.machine.mode).toMatchObject({ kind: "failed", code: "bad_token" });
    expect(s.deeds.map(({ kind }) => kind)).toEqual(["forget_device", "close", "terminate"]);
  });

  test("R8 A device that was replaced stops and does not come back.", () => {
    s.running(7).on({ kind: "closed", code: 4001 });
    expect(s.machine.mode).toEqual({ kind: "replaced" });
    expect(s.actions).toEqual([{ kind: "terminate" }]);
    expect(s.machine.attempt).toBeNull();
    expect(s.after(600_000).actions).toEqual([]);
  });

  test("A device that was revoked stops and does not come back.", () => {
    s.running(7).on({ kind: "closed", code: 4003 });
    expect(s.machine.mode).toMatchObject({ kind: "failed", code: "device_revoked" });
    expect(s.after(600_000).actions).toEqual([{ kind: "terminate" }]);
  });
});

describe("Work", () => {
  test("A lease is run, and its result asks for more.", () => {
    s.connected().lease(7);
    expect(s.actions).toEqual([{ kind: "run", lease: leaseOf(7) }]);
    s.after(2_000).on({ kind: "running", attempt: 7 }).outcome(7);
    expect(s.sent).toEqual([
      {
        type: "result",
        attempt: 7,
        seq: 1,
        outcome: "complete",
        values: [0.5],
        points: [],
        metrics: { load_ms: 2_000, run_ms: 1_500 },
        backend: "numpy",
        next: true,
        software: "worker/1",
      },
    ]);
  });

  test("R15 The acknowledgement brings the next lease.", () => {
    s.running(7).outcome(7);
    expect(s.sent).toHaveLength(1);
    s.hear(resultAck(7, 1, leaseOf(8)));
    expect(s.actions).toEqual([
      { kind: "contributed", runMs: 1_500 },
      { kind: "run", lease: leaseOf(8) },
    ]);
  });

  test("R15 Should neither a lease nor a wait follow, the device asks.", () => {
    s.running(7).outcome(7).hear(resultAck(7, 1));
    expect(s.sent).toHaveLength(1);
    expect(s.after(9_999).sent).toEqual([]);
    expect(s.after(1).sent).toContainEqual({ type: "ready" });
  });

  test("R26 A waiting device asks again after the delay, and takes a lease at any time.", () => {
    s.connected().hear({ type: "wait", delay_ms: 4_000, reason: "no_work" });
    expect(s.machine.waiting).toBe("no_work");
    expect(s.after(3_999).sent).toEqual([]);
    expect(s.after(1).sent).toEqual([{ type: "ready" }]);
    s.hear({ type: "wait", delay_ms: 4_000, reason: "no_work" }).lease(7);
    expect(s.deeds).toEqual([{ kind: "idle" }, { kind: "run", lease: leaseOf(7) }]);
  });

  test("A ready that nobody answers is said again.", () => {
    expect(s.connected().after(9_999).sent).toEqual([]);
    expect(s.after(1).sent).toContainEqual({ type: "ready" });
    expect(s.hear({ type: "ack" }).after(10_000).sent).toContainEqual({ type: "ready" });
  });

  test("R26 A wait is forgotten with the next lease, and left alone while there is one.", () => {
    const wait = { type: "wait" as const, delay_ms: 4_000, reason: "no_work" as const };
    s.connected().hear(wait).lease(7);
    expect(s.machine.waiting).toBeNull();
    s.hear(wait);
    expect(s.machine.waiting).toBeNull();
    s.on({ kind: "running", attempt: 7 }).outcome(7).hear(resultAck(7, 1), wait);
    expect(s.machine.waiting).toBe("no_work");
    s.lease(8).on({ kind: "running", attempt: 8 }).outcome(8).hear(resultAck(8, 1));
    expect(s.machine.waiting).toBeNull();
  });

  test("R27 A lease that comes while an attempt is open is given back.", () => {
    s.running(7).lease(8);
    expect(s.actions).toEqual([
      {
        kind: "send",
        message: { type: "release", attempt: 8, seq: 1, reason: "cannot_run" },
      },
    ]);
  });

  test("R27 too_many_leases: a fresh session names no attempt, which gives the forgotten one back.", () => {
    s.connected().hear({ type: "error", code: "too_many_leases", message: "One is open." });
    expect(s.actions).toEqual([{ kind: "close", code: CLOSE_SILENT }]);
    s.after(500).on({ kind: "opened" });
    expect(s.sent).toMatchObject([{ type: "hello", attempts: [] }]);
  });

  test("R16 unknown_attempt ends the attempt and asks for another.", () => {
    s.running(7).hear({ type: "error", code: "unknown_attempt", message: "", attempt: 7 });
    expect(s.actions).toEqual([{ kind: "interrupt", attempt: 7 }]);
    expect(s.outcome(7).sent).toEqual([{ type: "ready" }]);
  });

  test("R16 So it does when the attempt is finished; there is nothing to interrupt.", () => {
    s.running(7).outcome(7);
    expect(s.sent).toHaveLength(1);
    s.hear({ type: "error", code: "unknown_attempt", message: "", attempt: 7 });
    expect(s.actions).toEqual([{ kind: "send", message: { type: "ready" } }]);
  });

  test("A trial that went well forgives the failures before it.", () => {
    const cannotRun = { kind: "cannot_run" as const, code: "blob_unavailable", message: "m" };
    s.connected();
    for (let attempt = 1; attempt < 12; attempt += 3) {
      s.lease(attempt)
        .on({ ...cannotRun, attempt })
        .on({ ...cannotRun, attempt: 99 });
      s.lease(attempt + 1).on({ ...cannotRun, attempt: attempt + 1 });
      s.lease(attempt + 2)
        .outcome(attempt + 2)
        .hear(resultAck(attempt + 2, 1));
    }
    expect(s.machine.mode).toEqual({ kind: "working" });
  });

  test("An attempt that cannot begin is given back; the third in a row is the end.", () => {
    const cannotRun = { kind: "cannot_run" as const, code: "blob_unavailable", message: "m" };
    s.connected().lease(7);
    expect(s.actions).toHaveLength(1);
    s.on({ ...cannotRun, attempt: 7 });
    expect(s.actions).toEqual([
      { kind: "send", message: { type: "release", attempt: 7, seq: 1, reason: "cannot_run" } },
      { kind: "abort", attempt: 7 },
    ]);
    expect(s.after(5_000).sent).toContainEqual({ type: "ready" });
    s.lease(8).on({ ...cannotRun, attempt: 8 });
    s.after(10_000)
      .lease(9)
      .on({ ...cannotRun, attempt: 9 });
    expect(s.machine.mode).toEqual({ kind: "failed", code: "blob_unavailable", message: "m" });
  });

  test.each([
    ["out_of_memory", "out_of_memory"],
    ["channel_violation", "invalid"],
    ["runtime_crashed", "device_lost"],
  ])(
    "R18 A python thread that dies of %s fails its attempt as %s, and a new one is loaded.",
    (code, cause) => {
      s.running(7).on({ kind: "crashed", attempt: 7, code, message: "m" });
      expect(s.actions).toMatchObject([
        { kind: "terminate" },
        { kind: "warm" },
        {
          kind: "send",
          message: { type: "result", outcome: "failed", error: { cause, code } },
        },
      ]);
    },
  );
});

describe("Reports", () => {
  test("Points are gathered for a second, then sent together.", () => {
    s.running(7).report(7, 0).after(600).report(7, 1);
    expect(s.after(399).sent).toEqual([]);
    expect(s.after(1).sent).toEqual([
      {
        type: "report",
        attempt: 7,
        seq: 1,
        points: [
          [0, 0.5],
          [1, 0.5],
        ],
      },
    ]);
  });

  test("A result takes the unsent points along; more than 1,000 go before it.", () => {
    s.running(7);
    for (let step = 0; step < 1_001; step += 1) s.report(7, step);
    s.outcome(7);
    const [first, second, ...others] = s.sent;
    expect(others).toEqual([]);
    expect(first).toMatchObject({ type: "report", seq: 1 });
    expect(second).toMatchObject({ type: "result", seq: 2, points: [[1_000, 0.5]] });
  });

  test("A thousand points do not wait for the second to end.", () => {
    s.running(7);
    for (let step = 0; step < 1_000; step += 1) s.report(7, step);
    expect(s.sent).toMatchObject([{ type: "report", seq: 1 }]);
  });

  test("A call that Python gave up on leaves its points to the result.", () => {
    s.running(7).on({ kind: "closed", code: 1006 });
    s.report(7, 0).call(7, 1).report(7, 1).outcome(7).reconnected([7]);
    const { sent } = s;
    expect(sent.filter(({ type }) => type === "call")).toEqual([]);
    expect(sent.at(-1)).toMatchObject({
      type: "result",
      points: [
        [0, 0.5],
        [1, 0.5],
      ],
    });
  });

  test("A call takes the unsent points along, and Python gets its answer.", () => {
    s.running(7).report(7, 4).call(7, 11, 4);
    expect(s.sent).toEqual([
      {
        type: "call",
        id: 1,
        attempt: 7,
        method: "should_prune",
        args: { step: 4 },
        points: [[4, 0.5]],
      },
    ]);
    expect(s.machine.attempt?.state).toBe("waiting_call");
    expect(s.hear({ type: "reply", id: 2, value: true }).actions).toEqual([]);
    s.hear({ type: "reply", id: 1, value: true });
    expect(s.actions).toEqual([
      { kind: "taken", points: 1 },
      { kind: "answer", sequence: 11, text: answerText(true) },
    ]);
    expect(s.machine.attempt?.state).toBe("running");
  });

  test("A call that the server refuses is answered with its code.", () => {
    s.running(7).call(7, 11);
    expect(s.sent).toHaveLength(1);
    s.hear({ type: "error", code: "rate_limited", message: "Slow down.", id: 1 });
    const text = errorText("rate_limited", "Slow down.");
    expect(s.actions).toContainEqual({ kind: "answer", sequence: 11, text });
  });

  test("A call that this protocol does not have is refused here.", () => {
    const asked = { code: "unknown_method" as const, message: "There is no call 'shell'." };
    s.running(7).on({ kind: "call", attempt: 7, sequence: 2, asked });
    const text = errorText(asked.code, asked.message);
    expect(s.actions).toEqual([{ kind: "answer", sequence: 2, text }]);
  });

  test("Acknowledged points make room for the next ones.", () => {
    s.running(7).report(7, 0).after(1_000);
    expect(s.sent).toHaveLength(1);
    s.hear({ type: "ack", attempt: 6, seq: 1 }, { type: "ack", attempt: 7, seq: 9 });
    s.hear({ type: "ack", attempt: 7 });
    expect(s.actions).toEqual([]);
    s.hear({ type: "ack", attempt: 7, seq: 1 });
    expect(s.actions).toEqual([{ kind: "taken", points: 1 }]);
  });
});

describe("Acknowledgements", () => {
  test("R14 Without an acknowledgement the same result is sent again after 10 s, then 20 s.", () => {
    s.running(7).outcome(7);
    const [result] = s.sent;
    const ack = { type: "ack" as const };
    expect(s.after(9_999).sent).toEqual([]);
    expect(s.after(1).sent).toContainEqual(result);
    s.hear(ack).after(10_000);
    expect(s.sent).not.toContainEqual(result);
    expect(s.hear(ack).after(10_000).sent).toContainEqual(result);
  });

  test("R14 After a reconnection what was not acknowledged is sent again, with its numbers.", () => {
    s.running(7).report(7, 0).after(1_000).report(7, 1).outcome(7);
    const messages = s.sent;
    expect(messages.map(({ type }) => type)).toEqual(["report", "result"]);
    s.on({ kind: "closed", code: 1006 }).after(500).on({ kind: "opened" });
    expect(s.sent).toMatchObject([{ type: "hello", attempts: [7] }]);
    s.welcome([7]);
    expect(s.sent.filter(({ type }) => type !== "heartbeat")).toEqual(messages);
  });

  test("R14 What was acknowledged is not sent again.", () => {
    s.running(7).report(7, 0).after(1_000).hear({ type: "ack", attempt: 7, seq: 1 });
    s.on({ kind: "closed", code: 1006 }).reconnected([7]);
    expect(s.sent.filter(({ type }) => type === "report")).toHaveLength(1);
  });

  test("R14 An acknowledgement begins the pauses anew.", () => {
    const ack = { type: "ack" as const };
    s.running(7).report(7, 0).after(1_000);
    for (let second = 0; second < 100; second += 1) s.hear(ack).after(1_000);
    s.hear({ ...ack, attempt: 7, seq: 1 })
      .report(7, 1)
      .after(1_000);
    expect(s.sent.length).toBeGreaterThan(2);
    s.hear(ack).after(5_000).hear(ack).after(5_000);
    expect(s.sent).toContainEqual({ type: "report", attempt: 7, seq: 2, points: [[1, 0.5]] });
  });

  test("R12 A finished trial is sent although its lease is gone.", () => {
    s.running(7).on({ kind: "closed", code: 1006 }).outcome(7).reconnected([]);
    const results = s.sent.filter(({ type }) => type === "result");
    expect(results).toEqual([expect.objectContaining({ attempt: 7, seq: 1 })]);
  });

  test("A call goes on after a reconnection.", () => {
    s.running(7).report(7, 0).call(7, 5).on({ kind: "closed", code: 1006 });
    const [call] = s.sent;
    expect(s.reconnected([7]).sent).toContainEqual(call);
    s.hear({ type: "reply", id: 1, value: false });
    expect(s.actions).toContainEqual({ kind: "answer", sequence: 5, text: answerText(false) });
  });

  test("A result that is never taken is given back in the end.", () => {
    s.running(7).outcome(7);
    const ack = { type: "ack" as const };
    for (let second = 0; second < 600; second += 1) s.hear(ack).after(1_000);
    const { sent } = s;
    expect(sent).toContainEqual({ type: "release", attempt: 7, seq: 2, reason: "cannot_run" });
    expect(sent.filter(({ type }) => type === "result")).toHaveLength(9);
    expect(sent.filter(({ type }) => type === "ready").length).toBeGreaterThan(0);
    expect(s.machine.attempt).toBeNull();
  });
});

describe("Liveness", () => {
  test("R25 Heartbeats go on while Python computes, with its progress.", () => {
    s.running(7);
    s.progress = 42;
    s.after(HEARTBEAT_MS);
    expect(s.sent).toEqual([heartbeat({ attempt: 7, progress: 42, state: "running" })]);
    s.hear({ type: "ack" }).after(HEARTBEAT_MS);
    expect(s.sent).toEqual([heartbeat({ attempt: 7, progress: 42, state: "running" })]);
  });

  test("R25 A heartbeat tells loading, running and waiting_call apart, and leaves out what is finished.", () => {
    const states = () => s.hear({ type: "ack" }).after(HEARTBEAT_MS).sent;
    s.connected().lease(7);
    expect(states()).toEqual([heartbeat({ attempt: 7, progress: 0, state: "loading" })]);
    s.on({ kind: "running", attempt: 7 }).call(7, 1);
    expect(states()).toContainEqual(heartbeat({ attempt: 7, progress: 0, state: "waiting_call" }));
    s.outcome(7);
    expect(states()).toContainEqual(heartbeat());
  });

  test("R25 Three heartbeats of silence make a new connection; the lease is kept.", () => {
    s.running(7).after(3 * HEARTBEAT_MS - 1);
    expect(s.deeds).toEqual([]);
    s.after(1);
    expect(s.deeds).toEqual([{ kind: "close", code: CLOSE_SILENT }]);
    s.after(500).on({ kind: "opened" });
    expect(s.sent).toMatchObject([{ type: "hello", attempts: [7] }]);
  });

  test("R25 The pauses between connections double up to 30 s and are jittered.", () => {
    s.started();
    const pauses: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      s.on({ kind: "closed", code: 1006 });
      pauses.push((s.machine.nextDeadline() ?? 0) - s.now);
      s.after(pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  test("A restarting server is not stormed: its devices come back one after the other.", () => {
    const pauses = [0, 0.5, 1].map((random) => {
      const one = new Scenario(random).after(60_000).connected();
      one.on({ kind: "closed", code: 1012 });
      return (one.machine.nextDeadline() ?? 0) - one.now;
    });
    expect(pauses).toEqual([250, 1_875, 3_500]);
  });

  test("A server that cannot store is left alone for at least 5 s.", () => {
    s.after(60_000).connected().on({ kind: "closed", code: 1013 });
    expect(s.after(5_000).actions).not.toContainEqual({ kind: "open" });
    expect(s.after(500).actions).toEqual([{ kind: "open" }]);
  });

  test("R25 A connection that lasted begins the pauses anew, a short one does not.", () => {
    const pause = () => (s.machine.nextDeadline() ?? 0) - s.now;
    s.after(60_000).connected().on({ kind: "closed", code: 1006 });
    expect(pause()).toBe(500);
    s.reconnected([]).on({ kind: "closed", code: 1006 });
    expect(pause()).toBe(1_000);
    s.reconnected([]).hear({ type: "ack" }).after(10_000).on({ kind: "closed", code: 1006 });
    expect(pause()).toBe(500);
  });

  test("A socket that never opens is given up.", () => {
    s.started().after(14_999);
    expect(s.deeds).toEqual([{ kind: "warm" }, { kind: "open" }]);
    s.after(1);
    expect(s.deeds).toContainEqual({ kind: "close", code: CLOSE_SILENT });
    expect(s.after(500).deeds).toEqual([{ kind: "open" }]);
  });

  test("R21 A worker that reconnects inside the lease goes on.", () => {
    s.running(7).on({ kind: "closed", code: 1006 }).reconnected([7]);
    expect(s.deeds).toEqual([{ kind: "open" }]);
    expect(s.machine.attempt?.id).toBe(7);
  });

  test("R21 An attempt whose lease is gone is stopped, then work is asked for.", () => {
    s.running(7).on({ kind: "closed", code: 1006 }).reconnected([]);
    expect(s.deeds).toEqual([{ kind: "open" }, { kind: "interrupt", attempt: 7 }]);
    expect(s.outcome(7).sent).toEqual([{ type: "ready" }]);
  });
});

describe("Stopping", () => {
  const revoke = (code: "cancelled" | "timeout") => ({
    type: "revoke" as const,
    attempt: 7,
    code,
    message: "",
  });

  test("R17 A revoked attempt is interrupted; when it has ended, its result is dropped.", () => {
    s.running(7).hear(revoke("cancelled"));
    expect(s.actions).toEqual([{ kind: "interrupt", attempt: 7 }]);
    s.after(100).outcome(7);
    expect(s.actions).toEqual([{ kind: "send", message: { type: "ready" } }]);
    expect(s.after(INTERRUPT_GRACE_MS).deeds).toEqual([]);
  });

  test.each([
    ["KeyboardInterrupt", "objective_raised"],
    ["ValueError: made of it", "objective_raised"],
  ])("R18 What the objective makes of the interrupt is no failure: %s.", (message, code) => {
    s.running(7).hear(revoke("cancelled"));
    const error = { cause: "user_error" as const, code, message, traceback: "" };
    s.after(100).outcome(7, { outcome: "failed", error });
    expect(s.sent).toEqual([{ type: "ready" }]);
  });

  test("R18 An interrupt that nobody asked for is told as the objective's failure.", () => {
    const message = "KeyboardInterrupt";
    const error = {
      cause: "user_error" as const,
      code: "objective_raised",
      message,
      traceback: "",
    };
    const [result] = s.running(7).outcome(7, { outcome: "failed", error }).sent;
    expect(result).toMatchObject({ type: "result", outcome: "failed", error });
  });

  test("R23 Python that does not end is ended, within a second.", () => {
    s.running(7).hear(revoke("timeout")).after(INTERRUPT_GRACE_MS);
    expect(INTERRUPT_GRACE_MS).toBeLessThan(1_000);
    expect(s.actions).toEqual([
      { kind: "interrupt", attempt: 7 },
      { kind: "terminate" },
      { kind: "warm" },
      { kind: "send", message: { type: "ready" } },
    ]);
  });

  test("R23 Without a connection the device itself ends a trial whose time is over.", () => {
    const limit = { time_limit_ms: 60_000 };
    s.running(7, limit).after(5_000).report(7, 0).on({ kind: "closed", code: 1006 });
    expect(s.after(54_999).deeds).not.toContainEqual({ kind: "interrupt", attempt: 7 });
    expect(s.after(1).deeds).toContainEqual({ kind: "interrupt", attempt: 7 });
    s.outcome(7);
    expect(s.deeds.filter(({ kind }) => kind === "run")).toEqual([]);
    const [result] = s.reconnected([7]).sent.filter(({ type }) => type === "result");
    expect(result).toMatchObject({
      attempt: 7,
      outcome: "failed",
      error: { cause: "timeout", code: "time_limit" },
      points: [[0, 0.5]],
      metrics: { run_ms: 60_000 },
    });
    s.hear({ type: "result_ack", attempt: 7, seq: 1, verdict: "recorded", lease: leaseOf(8) });
    expect(s.deeds).toContainEqual({ kind: "run", lease: leaseOf(8) });
  });

  test("R23 Python that does not end at the limit is ended; the next lease runs in a new one.", () => {
    s.running(7, { time_limit_ms: 60_000 }).on({ kind: "closed", code: 1006 });
    s.after(60_000 + INTERRUPT_GRACE_MS);
    expect(s.deeds).toContainEqual({ kind: "terminate" });
    expect(s.machine.attempt?.result?.outcome).toBe("failed");
  });

  test("R23 With a connection, and without a limit, the device ends nothing by itself.", () => {
    const ack = { type: "ack" as const };
    s.running(7, { time_limit_ms: 60_000 });
    for (let second = 0; second < 120; second += 1) s.hear(ack).after(1_000);
    expect(s.deeds).toEqual([]);
    const other = new Scenario().running(7).on({ kind: "closed", code: 1006 }).after(600_000);
    expect(other.deeds).not.toContainEqual({ kind: "interrupt", attempt: 7 });
  });

  test("R17 An attempt that is still loading is only forgotten.", () => {
    s.connected().lease(7).hear(revoke("cancelled"));
    expect(s.actions).toEqual([
      { kind: "run", lease: leaseOf(7) },
      { kind: "abort", attempt: 7 },
      { kind: "send", message: { type: "ready" } },
    ]);
  });

  test("R17 A lease that comes while Python is ending runs when it has ended.", () => {
    s.running(7).hear(revoke("cancelled")).lease(8);
    expect(s.actions).toEqual([{ kind: "interrupt", attempt: 7 }]);
    expect(s.outcome(7).actions).toEqual([{ kind: "run", lease: leaseOf(8) }]);
  });

  test("R13 A revoke that crosses the result changes nothing.", () => {
    s.running(7).outcome(7).hear(revoke("cancelled"));
    expect(s.deeds).toEqual([]);
    s.hear({ ...resultAck(7, 1), verdict: "evidence" });
    expect(s.deeds).toEqual([{ kind: "contributed", runMs: 1_500 }]);
  });

  test("R22 A page that closes gives its attempt back within the event, and disconnects.", () => {
    s.running(7).report(7, 0).on({ kind: "left" });
    expect(s.actions).toEqual([
      { kind: "leaving", isLeaving: true },
      { kind: "send", message: { type: "release", attempt: 7, seq: 1, reason: "page_hidden" } },
      { kind: "interrupt", attempt: 7 },
      ...AWAKE,
      { kind: "close", code: 1000 },
    ]);
    expect(s.after(INTERRUPT_GRACE_MS).deeds).toEqual([{ kind: "terminate" }]);
    expect(s.after(600_000).actions).toEqual([]);
  });

  test("R22 A page that comes back from where it went works again.", () => {
    s.running(7).on({ kind: "left" }).outcome(7);
    expect(s.deeds.at(-1)).toEqual({ kind: "close", code: 1000 });
    s.on({ kind: "visible" });
    expect(s.actions).toEqual([{ kind: "warm" }, { kind: "open" }]);
    expect(s.on({ kind: "opened" }).welcome().sent).toEqual([
      expect.objectContaining({ type: "hello", attempts: [] }),
      { type: "ready" },
    ]);
  });

  test("A page that hides with a finished trial waits for its acknowledgement, at most 3 s.", () => {
    s.running(7).outcome(7).on({ kind: "hidden" });
    expect(s.deeds).toEqual([]);
    s.hear(resultAck(7, 1, leaseOf(8)));
    expect(s.actions).toEqual([
      { kind: "contributed", runMs: 1_500 },
      { kind: "send", message: { type: "release", attempt: 8, seq: 1, reason: "page_hidden" } },
      { kind: "close", code: 1000 },
    ]);

    s = new Scenario();
    s.running(7).outcome(7).on({ kind: "hidden" }).after(3_000);
    expect(s.deeds).toEqual([{ kind: "close", code: 1000 }]);
    // The result is kept until the connection is open again.
    s.on({ kind: "visible" }).on({ kind: "opened" }).welcome([]);
    expect(s.sent).toContainEqual(expect.objectContaining({ type: "result", attempt: 7 }));
  });

  test("A page that shows itself before the acknowledgement stays connected.", () => {
    s.running(7).outcome(7).on({ kind: "hidden" }).on({ kind: "visible" }).after(5_000);
    s.hear(resultAck(7, 1, leaseOf(8)));
    expect(s.deeds).toEqual([
      { kind: "contributed", runMs: 1_500 },
      { kind: "run", lease: leaseOf(8) },
    ]);
  });

  test("A hidden page does not try to connect.", () => {
    s.connected().on({ kind: "closed", code: 1006 }).on({ kind: "hidden" });
    expect(s.after(60_000).actions).toEqual([]);
  });

  test("After a stop nothing happens any more.", () => {
    s.running(7).hear(revoke("cancelled")).on({ kind: "stop" });
    expect(s.actions.at(-1)).toEqual({ kind: "end" });
    s.on({ kind: "stop" }).on({ kind: "hidden" }).on({ kind: "visible" }).on({ kind: "opened" });
    s.welcome().lease(8).outcome(7).after(60_000);
    expect(s.actions).toEqual([]);
    expect(s.machine.mode).toEqual({ kind: "stopped" });
  });

  test("Stop gives the attempt back and ends Python and the connection at once.", () => {
    s.running(7).on({ kind: "stop" });
    expect(s.actions).toEqual([
      { kind: "send", message: { type: "release", attempt: 7, seq: 1, reason: "stopped" } },
      { kind: "close", code: 1000 },
      { kind: "terminate" },
      { kind: "end" },
    ]);
    expect(s.machine.nextDeadline()).toBeNull();
  });

  test("Late words of Python about another attempt are left alone.", () => {
    s.running(7).report(6, 0).outcome(6).call(6, 1).after(2_000);
    expect(s.actions).toEqual([]);
  });
});

test("An error's words are sent as they are when they fit.", () => {
  const error = { cause: "user_error" as const, code: "c", message: "é", traceback: "line\n" };
  s.running(7).outcome(7, { outcome: "failed", error });
  expect(s.sent).toMatchObject([{ outcome: "failed", error }]);
});

test("Everything that is sent is in the protocol's limits, whatever the trial says.", () => {
  const error = {
    cause: "user_error" as const,
    code: "c".repeat(100),
    message: "é😀".repeat(1_000),
    traceback: `${"é".repeat(20_000)}\ud800 the end`,
  };
  s.running(7);
  for (let step = 0; step < 2_500; step += 1) s.report(7, step);
  s.outcome(7, { outcome: "failed", error });
  const { sent } = s;
  for (const message of sent) {
    expect(parseClientMessage(serialize(message))).toEqual(message);
  }
  expect(sent.at(-1)).toMatchObject({
    error: { traceback: expect.stringMatching(/the end$/) },
  });
});

describe("Checkpoints and lines", () => {
  const bytes = new Uint8Array([1]);
  const sha256 = "c".repeat(64);
  const head = { of: "checkpoint", format: "tree", step: 0, logged: null } as const;
  const save = (sequence: number, attempt = 7) =>
    s.on({ kind: "upload", attempt, sequence, head, sha256, bytes });
  const upload = { kind: "upload", id: 1, attempt: 7, head, sha256, bytes, limitMs: null };
  const stored = { kind: "uploaded", id: 1, result: { kind: "stored" } } as const;

  test("R37 A checkpoint takes the points before it along, and is a call until it is answered.", () => {
    s.running(7).after(5_000).report(7, 0);
    save(3);
    expect(s.actions).toEqual([
      { kind: "send", message: { type: "report", attempt: 7, seq: 1, points: [[0, 0.5]] } },
      upload,
    ]);
    s.after(HEARTBEAT_MS / 2);
    const waiting = { attempt: 7, progress: 0, state: "waiting_call" };
    expect(s.sent).toContainEqual(heartbeat(waiting));
    s.on(stored);
    expect(s.actions).toEqual([{ kind: "answer", sequence: 3, text: answerText(true) }]);
    s.hear({ type: "ack", attempt: 7, seq: 1 }).after(HEARTBEAT_MS);
    expect(s.sent).toContainEqual(heartbeat({ ...waiting, state: "running" }));
  });

  test("R37 A page that closes lets its upload go with its trial.", () => {
    s.running(7);
    save(3);
    s.on({ kind: "left" });
    const kinds = s.actions.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "forget_upload")).toHaveLength(1);
    s.on(stored);
    expect(s.actions).toEqual([]);
  });

  test("R37 A late word of an upload answers nobody.", () => {
    s.running(7);
    save(3);
    s.on({ ...stored, id: 2 });
    expect(s.deeds).toEqual([upload]);
    save(1, 6);
    expect(s.deeds).toEqual([]);
  });
});
