// Tests how rows of named series get from Python to the server (R59).

import { beforeEach, describe, expect, test } from "vitest";
import { parseClientMessage, serialize } from "../../protocol/index.ts";
import { MAX_FRAME_BYTES, MAX_SERIES, MAX_SERIES_ROWS } from "../../protocol/limits.ts";
import { WINDOW_POINTS } from "../../python/bridge.ts";
import { Scenario } from "./scenario.fixture.ts";
import { parseRow } from "./series.ts";

let s: Scenario;
beforeEach(() => {
  s = new Scenario();
});

const wide = (from: number, count: number, value = 0.5) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${from + i}`, value]));

describe("parseRow", () => {
  test("takes numbers and the names of those that are not finite.", () => {
    const text = '{"step":3,"values":{"loss":0.5,"a/b é":"NaN","c":"-Infinity"}}';
    const values = [
      ["loss", 0.5],
      ["a/b é", "NaN"],
      ["c", "-Infinity"],
    ];
    expect(parseRow(text)).toEqual({ step: 3, values });
  });

  test.each([
    ["no JSON", "{"],
    ["no step", '{"values":{"a":1}}'],
    ["a step below 0", '{"step":-1,"values":{"a":1}}'],
    ["a step with a fraction", '{"step":0.5,"values":{"a":1}}'],
    ["no values", '{"step":1}'],
    ["a value that is a text", '{"step":1,"values":{"a":"1"}}'],
    ["a value that is missing", '{"step":1,"values":{"a":null}}'],
    ["an empty name", '{"step":1,"values":{"":1}}'],
    ["a name of 129 characters", `{"step":1,"values":{"${"😀".repeat(129)}":1}}`],
    ["half a character in a name", '{"step":1,"values":{"\\ud800":1}}'],
  ])("refuses %s.", (_, text) => {
    expect(parseRow(text)).toBeNull();
  });

  test("takes a name of 128 characters, however long they are.", () => {
    expect(parseRow(`{"step":1,"values":{"${"😀".repeat(128)}":1}}`)).not.toBeNull();
  });
});

describe("Rows", () => {
  test("R59 are gathered for a second and sent as columns, in one message for all series.", () => {
    s.running(7).log(7, 0, { loss: 1, acc: 0.1 }).after(600).log(7, 4, { loss: 0.5 });
    s.log(7, 5, { lr: 0.01, acc: "NaN" });
    expect(s.after(399).sent).toEqual([]);
    const series = {
      steps: [0, 4, 5],
      columns: [
        ["loss", [1, 0.5]],
        ["acc", [0.1, null, "NaN"]],
        ["lr", [null, null, 0.01]],
      ],
    };
    expect(s.after(1).sent).toEqual([{ type: "report", attempt: 7, seq: 1, points: [], series }]);
  });

  test("R59 of one step in several calls are one row.", () => {
    s.running(7).log(7, 2, { a: 1 }).log(7, 2, { b: 2 }).after(1_000);
    const columns = [
      ["a", [1]],
      ["b", [2]],
    ];
    expect(s.sent).toMatchObject([{ series: { steps: [2], columns } }]);
  });

  test("go with points in one message.", () => {
    s.running(7).report(7, 0).log(7, 0, { a: 1 }).after(1_000);
    expect(s.sent).toMatchObject([{ points: [[0, 0.5]], series: { steps: [0] } }]);
  });

  test("that a message has no room for begin the next one.", () => {
    s.running(7);
    for (let step = 0; step <= MAX_SERIES_ROWS; step += 1) s.log(7, step, { a: 1 });
    expect(s.sent).toMatchObject([{ seq: 1, series: { steps: { length: MAX_SERIES_ROWS } } }]);
    expect(s.after(1_000).sent).toMatchObject([{ seq: 2, series: { steps: [MAX_SERIES_ROWS] } }]);
  });

  test("R59 are sent before the result.", () => {
    s.running(7).log(7, 0, { a: 1 }).outcome(7);
    expect(s.sent).toMatchObject([
      { type: "report", seq: 1, series: { steps: [0] } },
      { type: "result", seq: 2, points: [] },
    ]);
  });

  test("R37 are sent before a checkpoint.", () => {
    s.running(7).log(7, 3, { a: 1 });
    const head = { of: "checkpoint", format: "tree", step: null, logged: 3 } as const;
    const saved = { head, sha256: "c".repeat(64), bytes: new Uint8Array([1]) };
    s.on({ kind: "upload", attempt: 7, sequence: 1, ...saved });
    const kinds = s.actions.map((action) => action.kind);
    expect(kinds).toEqual(["send", "upload"]);
  });

  test("R14 that were not acknowledged are sent again with their number.", () => {
    s.running(7).log(7, 0, { a: 1 }).after(1_000);
    const messages = s.sent;
    s.on({ kind: "closed", code: 1006 });
    s.log(7, 1, { a: 2 }).after(500).on({ kind: "opened" }).welcome([7]);
    const { sent } = s;
    expect(sent.filter(({ type }) => type === "report")).toEqual(messages);
    s.after(1_000);
    expect(s.sent).toMatchObject([{ seq: 2, series: { steps: [1] } }]);
    s.hear({ type: "ack", attempt: 7, seq: 1 }).hear({ type: "ack", attempt: 7, seq: 2 });
    s.on({ kind: "closed", code: 1006 }).reconnected([7]);
    expect(s.sent.filter(({ type }) => type === "report")).toEqual([]);
  });

  test("count for Python's window: one for each call, also where calls are one row.", () => {
    s.running(7).report(7, 0).log(7, 0, { a: 1 }).log(7, 0, { b: 1 }).after(1_000);
    s.hear({ type: "ack", attempt: 7, seq: 1 });
    expect(s.deeds).toContainEqual({ kind: "taken", points: 3 });
  });

  test("above the limits are dropped, and Python never waits for them.", () => {
    s.running(7).log(7, 0, wide(0, MAX_SERIES)).log(7, 1, { another: 1 }).after(1_000);
    const { sent } = s;
    expect(sent).toMatchObject([{ series: { steps: [0] } }]);
    s.hear({ type: "ack", attempt: 7, seq: 1 });
    expect(s.deeds).toContainEqual({ kind: "taken", points: 2 });
  });

  test("of another attempt are ignored.", () => {
    s.running(7).log(6, 0, { a: 1 }).after(1_000);
    expect(s.sent).toEqual([]);
  });

  test("make messages that a server takes, with the longest names and many values.", () => {
    s.running(7);
    const names = Array.from({ length: MAX_SERIES }, (_, i) => `${i}`.padStart(128, '"'));
    const row = Object.fromEntries(names.map((name) => [name, -Math.PI * 1e-300]));
    for (let step = 0; step < WINDOW_POINTS / 8; step += 1) s.log(7, step, row);
    s.outcome(7);
    const { sent } = s;
    expect(sent.length).toBeGreaterThan(5);
    let rows = 0;
    for (const message of sent) {
      const text = serialize(message);
      expect(new TextEncoder().encode(text).length).toBeLessThan(MAX_FRAME_BYTES);
      expect(parseClientMessage(text)).toEqual(message);
      if (message.type === "report") rows += message.series?.steps.length ?? 0;
    }
    expect(rows).toBe(WINDOW_POINTS / 8);
  });
});
