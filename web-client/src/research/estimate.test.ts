// Tests the sentences that say how long a study will still take (protocol.md, R63).
import { describe, expect, it } from "vitest";
import { Formatter } from "../i18n/format.ts";
import { studyRow } from "../stories/research_states.ts";
import { studyOf } from "./model/rows.ts";
import { estimateText } from "./view_model.ts";
import { en } from "./words/en.ts";
import { ja } from "./words/ja.ts";

const format = new Formatter("en");

function textOf(estimate: unknown, change: Readonly<Record<string, unknown>> = {}) {
  return estimateText(studyOf(studyRow(7, { ...change, estimate })), en, format);
}

describe("R63: the estimate", () => {
  it("names the time that is left, the devices and their time", () => {
    const known = { runs: 4, devices: 2, left_ms: 720_000, device_ms: 1_440_000 };
    expect(textOf(known)).toBe(
      "About 12 min 0 sec left with the devices at work now (2), about 24 min 0 sec of device time",
    );
    const row = studyOf(studyRow(7, { estimate: known }));
    expect(estimateText(row, ja, new Formatter("ja"))).toContain("（2 台）");
  });

  it("says why nothing is known", () => {
    expect(textOf({ runs: 0, devices: 1, why: "no_run" })).toContain("no trial has finished");
    expect(textOf({ runs: 4, devices: 0, device_ms: 60_000, why: "no_device" })).toBe(
      "It is not known when the study ends: no device computes it now, about 1 min 0 sec of device time",
    );
    expect(textOf({ runs: 4, devices: 0, why: "of_tomorrow" })).toBe(en.study.estimate.why.other);
  });

  it("is missing in the row of a study that has ended, and in that of an older server", () => {
    expect(textOf(undefined, { state: "finished" })).toBeNull();
  });
});
