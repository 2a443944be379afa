// Tests that a study with more data than the volunteer allows is given back, and offered again when more is allowed.

import { beforeEach, describe, expect, test } from "vitest";
import { leaseOf, Scenario } from "./scenario.fixture.ts";
import { viewOf } from "./view.ts";

let s: Scenario;

beforeEach(() => {
  s = new Scenario();
});

describe("a study with too much data", () => {
  const why = { rule: "study", bytes: 270 } as const;
  const tooMuch = (attempt: number) => ({ kind: "too_much_data" as const, attempt, why });
  const wait = { type: "wait", delay_ms: 60_000, reason: "no_matching_work" } as const;

  test("is given back, others are asked for at once, and no number of them is the end.", () => {
    s.connected();
    for (let attempt = 1; attempt < 9; attempt += 1) {
      s.hear({ type: "lease", lease: leaseOf(attempt, { study: attempt }) });
      s.actions;
      s.on(tooMuch(99)).on(tooMuch(attempt));
      const release = { type: "release", attempt, seq: 1, reason: "cannot_run" };
      expect(s.sent).toEqual([release, { type: "ready" }]);
    }
    s.hear(wait);
    expect(viewOf(s.machine, 0)).toEqual({
      phase: "waiting",
      reason: "no_matching_work",
      refused: { ...why, study: "digits" },
    });
  });

  test("is not asked for without a pause if the server offers it again.", () => {
    s.connected().lease(1).on(tooMuch(1)).lease(2);
    s.actions;
    s.on(tooMuch(2));
    expect(s.sent).toEqual([{ type: "release", attempt: 2, seq: 1, reason: "cannot_run" }]);
    expect(s.after(5_000).sent).toContainEqual({ type: "ready" });
  });

  test("is offered again in a new session once more data is allowed.", () => {
    s.connected().lease(1).on(tooMuch(1)).hear(wait);
    s.actions;
    s.on({ kind: "data_allowed" });
    expect(s.deeds).toEqual([{ kind: "close", code: 1000 }, { kind: "open" }]);
    s.on({ kind: "opened" }).on({ kind: "data_allowed" });
    expect(s.machine.refused).toBeNull();
    expect(s.deeds).toEqual([]);
  });

  test("does not end the session of a trial that runs.", () => {
    s.connected().lease(1).on(tooMuch(1)).lease(2);
    s.actions;
    s.on({ kind: "data_allowed" });
    expect(s.actions).toEqual([]);
  });
});
