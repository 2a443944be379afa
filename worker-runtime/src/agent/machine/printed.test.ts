// Tests that the agent's state machine sends the lines that objectives print (R39).

import { beforeEach, expect, test } from "vitest";
import { Scenario } from "./scenario.fixture.ts";

let s: Scenario;

beforeEach(() => {
  s = new Scenario();
});

test("R39 Lines leave together after a second, and never twice.", () => {
  s.running(7);
  for (const text of ["a", "b"]) s.on({ kind: "output", attempt: 7, text });
  expect(s.after(999).sent).toEqual([]);
  expect(s.after(1).sent).toEqual([{ type: "output", attempt: 7, lines: ["a", "b"], dropped: 0 }]);
  s.on({ kind: "closed", code: 1006 }).reconnected([7]);
  expect(s.sent.filter(({ type }) => type === "output")).toEqual([]);
});

test("R39 Without a connection the newest lines wait, and the others are counted.", () => {
  s.running(7).on({ kind: "closed", code: 1006 });
  for (let i = 0; i < 1_205; i += 1) s.on({ kind: "output", attempt: 7, text: `${i}` });
  s.reconnected([7]).after(1_000);
  const outputs = s.sent.filter((message) => message.type === "output");
  expect(outputs[0]).toMatchObject({ dropped: 205, lines: { length: 200, 0: "205" } });
  expect(outputs.map(({ dropped }) => dropped)).toEqual([205, 0, 0, 0, 0]);
  expect(outputs[4]?.lines.at(-1)).toBe("1204");
});

test("R39 Long lines that wait are no more than the server keeps.", () => {
  s.running(7).on({ kind: "closed", code: 1006 });
  const text = "x".repeat(2_000);
  for (let i = 0; i < 100; i += 1) s.on({ kind: "output", attempt: 7, text });
  s.reconnected([7]).after(1_000);
  const output = s.sent.find((message) => message.type === "output");
  expect(output).toMatchObject({ dropped: 35, lines: { length: 65 } });
});

test("R39 The last lines of a trial that ended without a connection leave before its result.", () => {
  s.running(7).on({ kind: "closed", code: 1006 });
  s.on({ kind: "output", attempt: 7, text: "done" }).outcome(7).reconnected([7]);
  const types = s.sent.map(({ type }) => type).filter((type) => type !== "hello");
  expect(types).toEqual(["output", "result"]);
});

test("R39 The last lines leave with the result.", () => {
  s.running(7).on({ kind: "output", attempt: 7, text: "done" }).outcome(7);
  expect(s.sent.map(({ type }) => type)).toEqual(["output", "result"]);
});
