// Tests what the volunteer sees in each state of the machine.

import { beforeEach, expect, test } from "vitest";
import { leaseOf, Scenario } from "./scenario.fixture.ts";
import { viewOf } from "./view.ts";

let s: Scenario;
const view = () => viewOf(s.machine, 1_000_000);

beforeEach(() => {
  s = new Scenario();
});

test("From the tap to the first trial.", () => {
  expect(view()).toEqual({ phase: "joining" });
  s.started();
  expect(view()).toEqual({ phase: "connecting", attempt: 0, retryAt: null });
  s.on({ kind: "opened" }).welcome();
  s.hear({ type: "wait", delay_ms: 1_000, reason: "draining" });
  expect(view()).toEqual({ phase: "waiting", reason: "draining" });
  s.lease(7).on({ kind: "loading", loaded: 5, total: 10 });
  expect(view()).toMatchObject({ phase: "loading", loadedBytes: 5, totalBytes: 10 });
});

test("A running trial shows its parameters, its time and its curve.", () => {
  s.running(7).report(7, 0, 2.5);
  expect(view()).toEqual({
    phase: "computing",
    trial: {
      study: 3,
      studyName: "digits",
      owner: "ada",
      number: 1,
      total: 8,
      params: { rate: 1 },
      startedAt: 1_001_000,
      points: [[0, 2.5]],
    },
  });
});

test("A trial of an Optuna study shows what it was given, and nobody knows how many there will be.", () => {
  s.running(7, { asked: true, params: '{"kind":"adam"}' }).suggest(7, 1, "rate");
  s.hear({ type: "reply", id: 1, text: "0.25" }).call(7, 2);
  s.hear({ type: "reply", id: 2, value: true }).suggest(7, 3, "odd");
  s.hear({ type: "reply", id: 3, text: "NaN" });
  expect(view()).toMatchObject({
    trial: { total: null, params: { kind: "adam", rate: 0.25, odd: "NaN" } },
  });
});

test("A result that cannot be sent is shown as waiting, until there is a connection again.", () => {
  s.running(7);
  s.on({ kind: "closed", code: 1006 });
  expect(view()).toMatchObject({ phase: "computing" });
  s.outcome(7);
  expect(view()).toMatchObject({ phase: "delivering", trial: { number: 1 } });
  s.after(60_000).on({ kind: "tick" }).on({ kind: "opened" }).welcome();
  expect(view()).toMatchObject({ phase: "computing" });
});

test("A study that an administrator stopped is named until another trial is over (R67).", () => {
  s.running(7).hear({ type: "revoke", attempt: 7, code: "operator_stopped", message: "" });
  expect(view()).toEqual({ phase: "waiting", reason: "no_work", stoppedStudy: "digits" });
  s.after(100).outcome(7).lease(8).on({ kind: "running", attempt: 8 });
  expect(view()).toMatchObject({ phase: "computing", stoppedStudy: "digits" });
  s.outcome(8).hear({ type: "result_ack", attempt: 8, seq: 1, verdict: "accepted" }).lease(9);
  expect(view()).not.toHaveProperty("stoppedStudy");
});

test("Other reasons to end a trial are not told.", () => {
  s.running(7).hear({ type: "revoke", attempt: 7, code: "superseded", message: "" });
  expect(view()).toEqual({ phase: "waiting", reason: "no_work" });
});

test("The curve is its newest 200 points.", () => {
  s.running(7);
  for (let step = 0; step < 1_000; step += 1) s.report(7, step);
  const state = view();
  const points = state.phase === "computing" ? state.trial.points : [];
  expect([points.length, points[0]?.[0], points.at(-1)?.[0]]).toEqual([200, 800, 999]);
});

test("A trial goes on while the connection is away.", () => {
  s.running(7).on({ kind: "closed", code: 1006 });
  expect(view()).toMatchObject({ phase: "computing" });
});

test("Without a trial a lost connection shows when it is tried again.", () => {
  s.connected().on({ kind: "closed", code: 1006 });
  expect(view()).toEqual({ phase: "connecting", attempt: 1, retryAt: 1_000_000 + s.now + 500 });
  s.after(500);
  expect(view()).toEqual({ phase: "connecting", attempt: 1, retryAt: null });
});

test("Pause, stop, replacement and failure have their own words.", () => {
  s.running(7).on({ kind: "hidden" });
  expect(view()).toEqual({ phase: "paused", reason: "hidden", kept: true });
  s.on({ kind: "left" });
  expect(view()).toEqual({ phase: "paused", reason: "hidden" });
  s.on({ kind: "stop" });
  expect(view()).toEqual({ phase: "stopped" });
  s = new Scenario();
  s.connected().on({ kind: "closed", code: 4001 });
  expect(view()).toEqual({ phase: "replaced" });
  s = new Scenario();
  s.started().hear({ type: "refused", code: "banned", message: "No." });
  expect(view()).toEqual({ phase: "failed", code: "banned", message: "No." });
});

test("Parameters that cannot be read are left out.", () => {
  s.connected().hear({ type: "lease", lease: leaseOf(7, { params: "{" }) });
  expect(view()).toMatchObject({ trial: { params: {} } });
});
