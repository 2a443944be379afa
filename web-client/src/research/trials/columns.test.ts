import { describe, expect, it } from "vitest";
import { paramsOf } from "../model/params.ts";
import {
  columnKey,
  columnsOf,
  FIRST_PARAMS,
  firstKeys,
  paramReader,
  shortNumber,
  shortParam,
} from "./columns.ts";
import { trial } from "./trial.fixture.ts";

describe("columnsOf", () => {
  it("has the space's names first, then others that trials bring, and one column a value", () => {
    const trials = [trial(0, { params: paramsOf('{"b": 1, "c": 2}'), values: [1, 2] })];
    expect(columnsOf(["a", "b"], trials).map(columnKey)).toEqual([
      ...["trial", "state", "value:0", "value:1"],
      ...["param:a", "param:b", "param:c"],
      ...["device", "run", "attempts", "finished"],
    ]);
    expect(columnsOf([], []).map(columnKey)).toContain("value:0");
  });

  it("shows a dozen parameters at first, whatever the study has", () => {
    const names = Array.from({ length: 300 }, (_, i) => `p${i}`);
    const keys = firstKeys(columnsOf(names, []));
    expect(keys.filter((key) => key.startsWith("param:"))).toHaveLength(FIRST_PARAMS);
    expect(keys).toContain("finished");
  });
});

describe("paramReader", () => {
  it("finds a parameter wherever a trial has it", () => {
    const read = paramReader("b");
    const texts = ['{"a": 1, "b": 2}', '{"b": 3}', '{"c": 4}', '{"c": 5, "d": 6, "b": null}'];
    expect(texts.map((text) => read(trial(0, { params: paramsOf(text) }))?.value)).toEqual([
      2,
      3,
      undefined,
      null,
    ]);
  });
});

describe("short texts", () => {
  it.each([
    [0.041_327_500_000_000_01, "0.04133"],
    [-0.5, "-0.5"],
    [0, "0"],
    [64, "64"],
    [123_456, "123456"],
    [12_345.678, "12346"],
    [9_999.96, "10000"],
    [0.000_012_345_6, "1.235e-5"],
    [1_234_567_890, "1.235e+9"],
    [1e308, "1e+308"],
    [-123_456_789, "-1.235e+8"],
    [5e-324, "5e-324"],
    [Number.NaN, "NaN"],
    [Number.NEGATIVE_INFINITY, "-Infinity"],
  ])("%d becomes %s", (value, text) => {
    expect(shortNumber(value)).toBe(text);
  });

  it("keep what Python wrote while it is short, and every text", () => {
    const text = (raw: string) => {
      const [param] = paramsOf(`{"x": ${raw}}`);
      return param === undefined ? "" : shortParam(param);
    };
    expect(text("1.0")).toBe("1.0");
    expect(text("1e-05")).toBe("1e-05");
    expect(text("0.1234567890123456789")).toBe("0.1235");
    expect(text("12345678901234567890")).toBe("1.235e+19");
    expect(text('"12345678901234567890"')).toBe("12345678901234567890");
    expect(text("null")).toBe("null");
  });
});
