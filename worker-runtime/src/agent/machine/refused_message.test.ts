// Tests what the agent does when the server cannot read one of an attempt's messages (R3).

import { beforeEach, describe, expect, test } from "vitest";
import { Scenario } from "./scenario.fixture.ts";

let s: Scenario;

beforeEach(() => {
  s = new Scenario();
});

describe("R3 A message that the server cannot read", () => {
  const refusal = {
    type: "error" as const,
    code: "too_long",
    message: "Send at most 256 characters.",
    field: "software",
    attempt: 7,
  };
  const message =
    "The server refused a message of this trial: Send at most 256 characters. (software)";
  const failure = { cause: "invalid", code: "message_refused", message, traceback: "" };

  test("ends a finished attempt as failed, and the message is not sent again.", () => {
    s.running(7).outcome(7);
    expect(s.sent).toMatchObject([{ type: "result", outcome: "complete", seq: 1 }]);
    s.hear({ ...refusal, seq: 1 });
    expect(s.actions).toEqual([
      { kind: "send", message: expect.objectContaining({ seq: 2, error: failure }) },
    ]);
    const { sent } = s.after(10_000);
    expect(sent.filter(({ type }) => type === "result")).toMatchObject([{ seq: 2 }]);
    s.hear({ type: "result_ack", attempt: 7, seq: 2, verdict: "accepted" });
    expect(s.machine.attempt).toBeNull();
  });

  test("interrupts an attempt that runs.", () => {
    s.running(7).report(7, 0).after(1_000);
    expect(s.sent).toMatchObject([{ type: "report", seq: 1 }]);
    s.hear({ ...refusal, seq: 1 });
    const { actions } = s;
    expect(actions).toContainEqual({ kind: "interrupt", attempt: 7 });
    expect(actions).toContainEqual({
      kind: "send",
      message: expect.objectContaining({ seq: 2, error: failure }),
    });
    expect(s.after(10_000).sent).not.toContainEqual(expect.objectContaining({ type: "report" }));
  });

  test("gives the attempt back if the failure is refused, too.", () => {
    s.running(7)
      .outcome(7)
      .hear({ ...refusal, seq: 1 }, { ...refusal, seq: 2 });
    expect(s.sent).toContainEqual({ type: "release", attempt: 7, seq: 3, reason: "cannot_run" });
    expect(s.machine.attempt).toBeNull();
  });

  test("is nobody's message if its number is not known.", () => {
    s.running(7).hear({ ...refusal, seq: 9 }, { ...refusal, attempt: 8, seq: 1 });
    expect(s.actions).toEqual([]);
  });
});
