// Tests the sentence that says why the next trial waits although devices match (protocol.md, R70).
import { expect, it } from "vitest";
import { Formatter } from "../i18n/format.ts";
import { placementOf } from "./model/rows.ts";
import { waitsText } from "./view_model.ts";
import { en } from "./words/en.ts";
import { ja } from "./words/ja.ts";

const share = { weight: 100, weights: 400, guaranteed: 0, devices: 2, ahead: 3 };

function textOf(waits: string | undefined, change: Readonly<Record<string, unknown>> = {}) {
  const row = { devices: 4, matching: 4, reasons: [], share, ...change };
  const placement = placementOf(waits === undefined ? row : { ...row, waits });
  return [
    waitsText(placement, en, new Formatter("en")),
    waitsText(placement, ja, new Formatter("ja")),
  ];
}

it("names the researchers who come first, and the weights", () => {
  const [english = "", japanese = ""] = textOf("others_first");
  expect(english).toContain("Researchers served before you: 3. Your weight: 100 of 400.");
  expect(japanese).toContain("先に割り当てられる研究者：3 人。重み：400 のうち 100。");
});

it("says each other reason in words of its own", () => {
  for (const code of ["busy", "own_priority", "ceiling"] as const) {
    expect(textOf(code)).toEqual([en.study.waits[code], ja.study.waits[code]]);
  }
});

it("says nothing if the row says it elsewhere, if nothing waits, or if the code is new", () => {
  for (const code of ["held", "ended", "no_trial", "of_tomorrow", undefined]) {
    expect(textOf(code)).toEqual(["", ""]);
  }
  expect(textOf("no_match", { matching: 0 })).toEqual(["", ""]);
});
