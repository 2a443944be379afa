// Tests an attempt of an Optuna study on the device: its calls, its attributes, and calls that get no answer.

import { beforeEach, expect, test } from "vitest";
import { answerText } from "../../channel/block.ts";
import { COMPLETE, Scenario } from "./scenario.fixture.ts";
import { SAMPLER_MS } from "./work.ts";

let s: Scenario;

beforeEach(() => {
  s = new Scenario();
});

test("A suggestion goes to the server with the unsent points, and its text to Python.", () => {
  s.running(7, { asked: true }).report(7, 4).suggest(7, 11, "rate");
  const args = { name: "rate", distribution: "{}" };
  const message = { type: "call", id: 1, attempt: 7, method: "suggest", args };
  expect(s.sent).toEqual([{ ...message, points: [[4, 0.5]] }]);
  expect(s.machine.attempt?.state).toBe("waiting_call");
  s.hear({ type: "reply", id: 1, text: "0.25" });
  expect(s.actions).toContainEqual({ kind: "answer", sequence: 11, text: answerText("0.25") });
  expect(s.machine.attempt?.state).toBe("running");
});

test("A suggestion that a lost connection left open is asked again.", () => {
  s.running(7, { asked: true }).suggest(7, 11).on({ kind: "closed", code: 1006 });
  s.reconnected([7]);
  expect(s.sent).toContainEqual(expect.objectContaining({ type: "call", id: 1 }));
});

test("A suggestion that Python asks for again takes the points of the first along.", () => {
  s.running(7, { asked: true }).on({ kind: "closed", code: 1006 });
  s.report(7, 4).suggest(7, 11).suggest(7, 12).reconnected([7]);
  const calls = s.sent.filter(({ type }) => type === "call");
  expect(calls).toMatchObject([{ id: 2, points: [[4, 0.5]] }]);
  s.hear({ type: "reply", id: 1, text: "1" });
  expect(s.deeds, "nobody waits for the first").toEqual([]);
});

test("Python is kept while the sampler thinks about the next trial, and not for longer.", () => {
  const wait = { type: "wait" as const, delay_ms: 1_000, reason: "no_work" as const };
  const finish = (attempt: number) => {
    s.outcome(attempt);
    s.hear({ type: "result_ack", attempt, seq: 1, verdict: "accepted" }, wait);
  };
  s.running(7, { asked: true });
  finish(7);
  expect(
    s
      .after(1_000)
      .hear(wait)
      .deeds.map(({ kind }) => kind),
  ).toEqual(["contributed"]);
  s.lease(8, { asked: true }).on({ kind: "running", attempt: 8 });
  finish(8);
  expect(s.deeds.map(({ kind }) => kind)).toEqual(["run", "contributed"]);
  s.after(SAMPLER_MS - 1);
  expect(s.deeds).toEqual([]);
  s.after(1);
  expect(s.deeds).toEqual([{ kind: "idle" }]);
});

test("R43: without an owner the attempt is given back, and Python interrupted.", () => {
  s.running(7, { asked: true }).suggest(7, 11);
  expect(s.sent).toHaveLength(1);
  s.hear({ type: "error", code: "no_owner", message: "Nobody is there.", id: 9 });
  expect(s.machine.attempt?.id, "another call's").toBe(7);
  expect(s.actions).toEqual([]);
  s.hear({ type: "error", code: "no_owner", message: "Nobody is there.", id: 1 });
  expect(s.actions).toEqual([
    { kind: "send", message: { type: "release", attempt: 7, seq: 1, reason: "no_owner" } },
    { kind: "interrupt", attempt: 7 },
  ]);
  s.outcome(7);
  expect(s.sent).toEqual([{ type: "ready" }]);
});

test.each([
  COMPLETE,
  { outcome: "pruned" as const },
  {
    outcome: "failed" as const,
    error: { cause: "invalid" as const, code: "c", message: "m", traceback: "" },
  },
])("What a trial says of itself goes with its result: $outcome.", (outcome) => {
  s.running(7).outcome(7, { ...outcome, attrs: '{"user":{"n":1}}' });
  const result = { type: "result", outcome: outcome.outcome, attrs: '{"user":{"n":1}}' };
  expect(s.sent).toMatchObject([result]);
  const silent = new Scenario().running(8).outcome(8, outcome);
  expect(silent.sent.at(-1)).not.toHaveProperty("attrs");
});
