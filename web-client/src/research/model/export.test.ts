import { describe, expect, it } from "vitest";
import { researchStories } from "../../stories/research_states.ts";
import { csvOf, fileName, jsonOf } from "./export.ts";
import { studyOf, trialOf } from "./rows.ts";

const { rows } = researchStories.study_running;
const study = studyOf(rows.studies[0]);
const head = {
  study: 7,
  seed: 7,
  attempts: 1,
  started_at: 0,
  finished_at: 0,
  run_ms: 5,
  load_ms: 2,
  seq: 1,
};

function trial(number: number, params: string, rest: Readonly<Record<string, unknown>> = {}) {
  return trialOf({ ...head, trial: number, state: "complete", params, values: [0.5], ...rest });
}

/** Reads CSV (RFC 4180) independently of the tested code. */
function cells(csv: string): string[][] {
  return csv
    .trimEnd()
    .split("\r\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
      ),
    );
}

function column(csv: string, name: string): string[] {
  const [names, ...lines] = cells(csv);
  const place = names?.indexOf(name) ?? -1;
  expect(place, name).toBeGreaterThanOrEqual(0);
  return lines.map((line) => line[place] ?? "");
}

describe("csvOf", () => {
  it("has a line a trial, in the order of their numbers, with Python's own numbers", () => {
    const csv = csvOf({ ...study, names: ["lr"] }, [
      trial(2, '{"lr": -1.0}'),
      trial(0, '{"lr": 1e-05}', { values: [] }),
    ]);
    expect(column(csv, "trial")).toEqual(["0", "2"]);
    expect(column(csv, "param_lr")).toEqual(["1e-05", "-1.0"]);
    expect(column(csv, "value")).toEqual(["", "0.5"]);
    expect(csv.endsWith("\r\n")).toBe(true);
  });

  it("R64: has the version of the code where there are several", () => {
    const trials = [trial(0, "{}"), trial(1, "{}", { code_version: 2 })];
    expect(csvOf(study, trials)).not.toContain("code_version");
    const csv = csvOf({ ...study, codeVersion: 2 }, trials);
    expect(column(csv, "code_version")).toEqual(["1", "2"]);
  });

  it("quotes what needs it", () => {
    const csv = csvOf({ ...study, names: ["x"] }, [trial(0, '{"x": "a,b \\"c\\"\\nd"}')]);
    expect(csv).toContain('"a,b ""c""\nd"');
  });

  it("lets no text of a phone begin a formula", () => {
    const error = { cause: "user_error", code: "x", message: "=cmd|' /C calc'!A0", traceback: "" };
    const csv = csvOf({ ...study, names: ["x"] }, [
      trial(0, '{"x": "+1"}', { error, state: "failed" }),
    ]);
    expect(column(csv, "error_message")).toEqual(["'=cmd|' /C calc'!A0"]);
    expect(column(csv, "param_x")).toEqual(["'+1"]);
  });

  it("writes times in UTC, and none where there is none", () => {
    const csv = csvOf(study, [trial(0, "{}", { started_at: 1_795_253_400_000 })]);
    expect(column(csv, "started_at")).toEqual(["2026-11-21T09:30:00.000Z"]);
    expect(column(csv, "finished_at")).toEqual([""]);
  });

  it("names several values by their place", () => {
    const csv = csvOf(study, [trial(0, "{}", { values: [1, 2] })]);
    expect([column(csv, "value_0"), column(csv, "value_1")]).toEqual([["1"], ["2"]]);
  });
});

describe("jsonOf", () => {
  it("is JSON that keeps Python's numbers", () => {
    const text = jsonOf(study, [trial(1, '{"lr": 1.0}'), trial(0, '{"n": 9007199254740993}')]);
    const parsed = JSON.parse(text) as { study: { name: string }; trials: { trial: number }[] };
    expect(parsed.study.name).toBe("mnist-grid");
    expect(parsed.trials.map((row) => row.trial)).toEqual([0, 1]);
    expect(text).toContain('{"lr": 1.0}');
    expect(text).toContain('{"n": 9007199254740993}');
  });

  it("is JSON without a trial too", () => {
    expect(JSON.parse(jsonOf(study, []))).toMatchObject({ trials: [] });
  });
});

describe("fileName", () => {
  it("holds harmless characters only", () => {
    expect(fileName({ ...study, name: "../a b/数字" }, "csv")).toBe("_a_b_数字-7.csv");
  });
});
