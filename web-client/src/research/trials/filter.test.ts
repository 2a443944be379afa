import { describe, expect, it } from "vitest";
import { paramsOf } from "../model/params.ts";
import { compiled, FilterError, MAX_CHARS, parsed } from "./filter.ts";
import { readerNamed } from "./names.ts";
import { trial } from "./trial.fixture.ts";

const NAMES = {
  params: new Set(["lr", "optimizer", "drop", "value", "batch size", "in"]),
  values: 2,
  best: new Set([3]),
};

const adam = trial(3, {
  values: [0.25, -1],
  params: paramsOf('{"lr": 0.01, "optimizer": "Adam", "drop": null, "value": 7, "batch size": 64}'),
  attributes: paramsOf('{"git": "a3f9", "augment": true}'),
  summary: [["gap", 0.5]],
  runMs: 61_000,
  finishedAt: Date.UTC(2026, 10, 28),
});
const failed = trial(4, { state: "failed", values: [], params: paramsOf('{"lr": 1}') });

function holds(text: string, row = adam): boolean {
  return compiled(parsed(text), (name) => readerNamed(name, NAMES))(row);
}

function problemOf(text: string) {
  try {
    holds(text);
  } catch (error) {
    if (error instanceof FilterError) {
      return [error.code, error.at, error.what];
    }
    throw error;
  }
  return null;
}

describe("a filter", () => {
  it.each([
    "value < 0.3",
    "value_1 == -1",
    "0.2 < value <= 0.25",
    "not value > 0.3",
    'state == "complete" and (lr >= 1e-2 or lr == 5)',
    'optimizer in ["SGD", "Adam"]',
    "optimizer not in ('SGD',)",
    '"da" in optimizer',
    "drop == None",
    "drop != missing",
    "param_value == 7",
    "`batch size` = 64",
    'user_attrs_git == "a3f9" and user_attrs_augment',
    "summary_gap == .5",
    "feasible",
    "best and True",
    "run_ms > 60000",
    'finished_at > "2026-11-27" and finished_at < "2026-11-29"',
    "lr > -inf",
    "True",
    "error_code == missing",
  ])("holds: %s", (text) => {
    expect(holds(text)).toBe(true);
  });

  it.each([
    "value < 0.2",
    "optimizer < 5",
    'lr == "0.01"',
    "lr == True",
    "optimizer in []",
    "not feasible",
    "value_1 > value",
    "drop < 1",
  ])("does not hold: %s", (text) => {
    expect(holds(text)).toBe(false);
  });

  it("takes a missing value for nothing but missing", () => {
    expect(holds("value < 1", failed)).toBe(false);
    expect(holds("value >= 1", failed)).toBe(false);
    expect(holds("value == missing", failed)).toBe(true);
    expect(holds('optimizer != "Adam"', failed)).toBe(true);
    expect(holds("feasible", failed)).toBe(false);
  });

  it("binds `and` before `or`, and `not` before both", () => {
    expect(holds("lr == 5 and lr == 5 or lr == 0.01")).toBe(true);
    expect(holds("lr == 5 and (lr == 5 or lr == 0.01)")).toBe(false);
    expect(holds("not lr == 5 and lr == 0.01")).toBe(true);
  });

  it.each([
    ["", ["ends_early", 0, ""]],
    ["value <", ["ends_early", 7, ""]],
    ["value < 1 value", ["unexpected", 10, "value"]],
    ["(value < 1", ["ends_early", 10, ""]],
    ["value < 1)", ["unexpected", 9, ")"]],
    ['optimizer == "Adam', ["unfinished_text", 13, '"Adam']],
    ["optimizer == Adam", ["unknown_name", 13, "Adam"]],
    ["value_2 > 1", ["unknown_name", 0, "value_2"]],
    ["value & 1", ["unexpected", 6, "&"]],
    ["lr > 😀", ["unexpected", 5, "😀"]],
    ["and", ["unexpected", 0, "and"]],
    ["lr not 5", ["unexpected", 7, "5"]],
    ["optimizer in [1,", ["ends_early", 16, ""]],
    ["lr == --1", ["unexpected", 7, "-"]],
    ["constructor", ["unknown_name", 0, "constructor"]],
    [`${"(".repeat(40)}value`, ["too_deep", 33, "("]],
    [`value < ${"1".repeat(MAX_CHARS)}`, ["too_long", MAX_CHARS, String(MAX_CHARS + 8)]],
  ])("says what is wrong with %s", (text, problem) => {
    expect(problemOf(text)).toEqual(problem);
  });

  it("never runs forever or breaks on text of any kind", () => {
    const parts = [
      "(",
      ")",
      "not",
      "in",
      "lr",
      '"',
      "'",
      "`",
      "\\",
      "[",
      "]",
      ",",
      "-",
      "1",
      "==",
      " ",
    ];
    let seed = 7;
    const next = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed;
    };
    for (let i = 0; i < 5_000; i += 1) {
      const text = Array.from({ length: next() % 12 }, () => parts[next() % parts.length]).join("");
      expect(() => problemOf(text)).not.toThrow();
    }
  });
});
