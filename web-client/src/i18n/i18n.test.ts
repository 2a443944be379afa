import { describe, expect, it } from "vitest";
import { dictionaries } from "./dictionaries.ts";
import { en } from "./en.ts";
import { es } from "./es/index.ts";
import { Formatter } from "./format.ts";
import { ja } from "./ja/index.ts";
import {
  languageNames,
  otherLanguage,
  preferredLanguage,
  rememberedLanguage,
  rememberLanguage,
  type VolunteerLanguage,
  volunteerLanguageNames,
} from "./language.ts";
import { LanguageChoice, readableLanguage } from "./language_choice.ts";
import { PageWords } from "./page_words.ts";
import { enPassphrase } from "./passphrase/en.ts";
import { esPassphrase } from "./passphrase/es.ts";
import { jaPassphrase } from "./passphrase/ja.ts";
import { zhPassphrase } from "./passphrase/zh.ts";
import { describeWords } from "./words.fixture.ts";
import { zh } from "./zh/index.ts";

describeWords(
  "the join page's words",
  { en, es, ja, zh },
  {
    sameEverywhere: ["/inApp/browser/ios", "/inApp/browser/android"],
    same: { ja: ["/trial/bytes()"], zh: ["/trial/bytes()"] },
    otherParts: { "/project/studies()": ["‹1›"] }, // Japanese and Chinese have no plural
    notInEnglish: ["/notReviewed"],
  },
);

describeWords("the passphrase's words", {
  en: { tag: "en", ...enPassphrase },
  es: { tag: "es", ...esPassphrase },
  ja: { tag: "ja", ...jaPassphrase },
  zh: { tag: "zh-Hans", ...zhPassphrase },
});

it("Every language has its words.", async () => {
  const all = { en, es, ja, zh };
  expect(Object.keys(all)).toEqual(Object.keys(volunteerLanguageNames));
  for (const [language, words] of Object.entries(all)) {
    expect(await dictionaries.load(language as VolunteerLanguage)).toBe(true);
    expect(dictionaries.of(language as VolunteerLanguage)).toBe(words);
  }
});

describe("language", () => {
  const preferred = (tags: string[]) => preferredLanguage(tags, volunteerLanguageNames);

  it("is the first of the browser's languages that we speak, else English", () => {
    expect(preferred(["ja-JP", "en"])).toBe("ja");
    expect(preferred(["de-DE", "JA"])).toBe("ja");
    expect(preferred(["ca", "es-MX"])).toBe("es");
    expect(preferred(["de", "fr"])).toBe("en");
    expect(preferred([])).toBe("en");
    expect(preferred(["constructor"])).toBe("en");
    expect(preferredLanguage(["es", "ja"], languageNames)).toBe("ja");
  });

  it("is Simplified Chinese only for those who read it", () => {
    for (const tag of ["zh", "zh-CN", "zh-Hans-SG", "zh-hans-hk"]) {
      expect(preferred([tag]), tag).toBe("zh");
    }
    for (const tag of ["zh-TW", "zh-HK", "zh-Hant", "zh-Hant-CN", "zh-mo"]) {
      expect(preferred([tag, "ja"]), tag).toBe("ja");
    }
  });

  it("is remembered", () => {
    const kept = new Map<string, string>();
    const store = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
    expect(rememberedLanguage(store, languageNames)).toBeNull();
    rememberLanguage(store, otherLanguage("en"));
    expect(rememberedLanguage(store, languageNames)).toBe("ja");
    rememberLanguage(store, "es");
    expect(rememberedLanguage(store, volunteerLanguageNames)).toBe("es");
    expect(rememberedLanguage(store, languageNames)).toBeNull();
  });

  it("works where storage is forbidden", () => {
    const forbidden = () => {
      throw new Error("SecurityError");
    };
    const store = { getItem: forbidden, setItem: forbidden };
    expect(rememberedLanguage(store, languageNames)).toBeNull();
    expect(() => rememberLanguage(store, "ja")).not.toThrow();
  });
});

describe("A choice of language", () => {
  function scenario() {
    const arrivals = new Map<string, (text: string | null) => void>();
    const fetched = (name: string) => () =>
      new Promise<string>((resolve, reject) => {
        arrivals.set(name, (text) =>
          text === null ? reject(new Error("offline")) : resolve(text),
        );
      });
    const book = new PageWords<string>(
      { en: "Start", ja: "開始" },
      { es: fetched("es"), zh: fetched("zh") },
    );
    const remembered: string[] = [];
    const choice = new LanguageChoice("en", [book], (language) => remembered.push(language));
    return { arrivals, book, choice, remembered };
  }

  it("counts at once if the texts are here", () => {
    const { choice, remembered } = scenario();
    void choice.choose("ja");
    expect(choice.language.value).toBe("ja");
    expect(remembered).toEqual(["ja"]);
  });

  it("counts when the texts have been fetched", async () => {
    const { arrivals, book, choice } = scenario();
    const chosen = choice.choose("es");
    expect(choice.language.value).toBe("en");
    arrivals.get("es")?.("Empezar");
    await chosen;
    expect(book.of(choice.language.value)).toBe("Empezar");
  });

  it("changes nothing and says so if the texts cannot be fetched; it may be made again", async () => {
    const { arrivals, choice, remembered } = scenario();
    const chosen = choice.choose("es");
    arrivals.get("es")?.(null);
    await chosen;
    expect([choice.language.value, choice.hasFailed.value, remembered]).toEqual(["en", true, []]);
    const again = choice.choose("es");
    expect(choice.hasFailed.value).toBe(false);
    arrivals.get("es")?.("Empezar");
    await again;
    expect(choice.language.value).toBe("es");
  });

  it("is overtaken by a later one", async () => {
    const { arrivals, choice, remembered } = scenario();
    const first = choice.choose("es");
    const second = choice.choose("zh");
    arrivals.get("zh")?.("开始");
    await second;
    arrivals.get("es")?.("Empezar");
    await first;
    expect([choice.language.value, remembered]).toEqual(["zh", ["zh"]]);
  });

  it("is English at the start if the reader's texts cannot be fetched", async () => {
    const { arrivals, book } = scenario();
    const start = readableLanguage("zh", [book]);
    arrivals.get("zh")?.(null);
    expect(await start).toBe("en");
    expect(() => book.of("zh")).toThrow("were not fetched");
  });
});

describe("Formatter", () => {
  const english = new Formatter("en");
  const japanese = new Formatter("ja");
  const spanish = new Formatter("es");
  const chinese = new Formatter("zh-Hans");

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
    expect(spanish.list(["solo mientras se carga", "30 min al día"])).toBe(
      "solo mientras se carga y 30 min al día",
    );
    expect(chinese.list(["仅在充电时", "每天 30 分钟", "C"])).toBe("仅在充电时、每天 30 分钟和C");
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
