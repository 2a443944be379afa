import { describe, expect, it } from "vitest";
import { dictionaries } from "./dictionaries.ts";
import { Formatter } from "./format.ts";
import {
  languageNames,
  otherLanguage,
  preferredLanguage,
  rememberedLanguage,
  rememberLanguage,
} from "./language.ts";
import { describeWords } from "./words.fixture.ts";

describeWords("the join page's words", dictionaries, {
  sameEverywhere: ["/trial/bytes()", "/inApp/browser/ios", "/inApp/browser/android"],
  otherParts: { "/project/studies()": ["‹1›"] }, // Japanese has no plural
});

it("Every language has its words.", () => {
  expect(Object.keys(dictionaries)).toEqual(Object.keys(languageNames));
});

describe("language", () => {
  it("is the first of the browser's languages that we speak, else English", () => {
    expect(preferredLanguage(["ja-JP", "en"])).toBe("ja");
    expect(preferredLanguage(["de-DE", "JA"])).toBe("ja");
    expect(preferredLanguage(["de", "fr"])).toBe("en");
    expect(preferredLanguage([])).toBe("en");
    expect(preferredLanguage(["constructor"])).toBe("en");
  });

  it("is remembered", () => {
    const kept = new Map<string, string>();
    const store = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
    expect(rememberedLanguage(store)).toBeNull();
    rememberLanguage(store, otherLanguage("en"));
    expect(rememberedLanguage(store)).toBe("ja");
  });

  it("works where storage is forbidden", () => {
    const forbidden = () => {
      throw new Error("SecurityError");
    };
    const store = { getItem: forbidden, setItem: forbidden };
    expect(rememberedLanguage(store)).toBeNull();
    expect(() => rememberLanguage(store, "ja")).not.toThrow();
  });
});

describe("Formatter", () => {
  const english = new Formatter("en");
  const japanese = new Formatter("ja");

  it("groups integers", () => {
    expect(english.integer(12_345_678)).toBe("12,345,678");
  });

  it("gives sizes in megabytes of a million bytes", () => {
    expect(english.bytes(9_870_000)).toBe("9.9 MB");
    expect(japanese.bytes(0)).toBe("0.0 MB");
    expect(english.bytes(-5)).toBe("0.0 MB");
  });

  it("gives the two largest units of a duration", () => {
    expect(english.duration(8_999)).toBe("8 sec");
    expect(english.duration(132_000)).toBe("2 min 12 sec");
    expect(english.duration(8_040_000)).toBe("2 hr 14 min");
    expect(japanese.duration(132_000)).toBe("2 分 12 秒");
    expect(english.duration(-1)).toBe("0 sec");
  });

  it("gives full minutes and percent without a rest", () => {
    expect([30, 60, 90, 240].map((minutes) => english.minutes(minutes))).toEqual([
      "30 min",
      "1 hr",
      "90 min",
      "4 hr",
    ]);
    expect(japanese.minutes(120)).toBe("2 時間");
    expect(english.percent(0.3)).toBe("30%");
  });

  it("never counts down to zero", () => {
    expect(english.countdown(11_001)).toBe("12 sec");
    expect(english.countdown(1)).toBe("1 sec");
    expect(english.countdown(0)).toBe("1 sec");
  });

  it("joins parts so that each is seen to end", () => {
    expect(english.list(["1 h", "2 min"])).toBe("1 h, 2 min");
    expect(japanese.list(["A 2 台", "B 1 台", "C"])).toBe("A 2 台、B 1 台、C");
  });

  it("shows a metric with the digits that count", () => {
    expect(english.metric(0.144_512)).toBe("0.1445");
    expect(english.metric(0)).toBe("0");
    expect(english.metric(0.000_000_123)).toBe("1.23E-7");
    expect(english.metric(-123_456_789)).toBe("-1.23E8");
  });

  it("shows a parameter as its author wrote it", () => {
    expect(english.param(1024)).toBe("1024");
    expect(english.param(0.001)).toBe("0.001");
    expect(english.param("Adam")).toBe("Adam");
    expect(english.param(null)).toBe("null");
    expect(english.param([32, 64])).toBe("[32, 64]");
    expect(english.param({ "()": [32, 64] })).toBe("(32, 64)");
    expect(english.param(undefined)).toBe("undefined");
    expect(english.param("x".repeat(80))).toBe(`${"x".repeat(59)}…`);
  });
});
