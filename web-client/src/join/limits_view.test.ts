import { type Limits, NO_LIMITS } from "@hyperflock/worker-runtime/limits";
import { describe, expect, it } from "vitest";
import { dictionaries } from "../i18n/dictionaries.ts";
import { Formatter } from "../i18n/format.ts";
import { limitsSummary, rememberedLimits, rememberLimits } from "./limits_view.ts";

const LIMITS: Limits = {
  onlyCharging: true,
  batteryFloor: 30,
  onlyUnmetered: false,
  hours: { from: 22, until: 7 },
  minutesADay: 120,
  dataADay: 200e6,
  dataAStudy: 20e6,
  processorShare: 0.5,
};

describe("limits in few words", () => {
  it("name what is set, and that nothing is", async () => {
    await dictionaries.load("ja");
    const say = (limits: Limits, language: "en" | "ja") =>
      limitsSummary(limits, dictionaries.of(language).limits, new Formatter(language));
    expect(say(LIMITS, "en")).toBe(
      "only while charging, battery above 30%, 22:00 to 7:00, 2 hr a day, 200 MB of data a day, 20 MB of data for one study",
    );
    expect(say(LIMITS, "ja")).toBe(
      "充電中のみ、電池 30% 以上、22:00 から 7:00 まで、1 日 2 時間、通信量 1 日 200 MB、通信量 1 研究 20 MB",
    );
    expect(say(NO_LIMITS, "en")).toBe("At any time while this page is open");
  });
});

describe("remembered limits", () => {
  it("are kept, and what is damaged does not limit", () => {
    const kept = new Map<string, string>();
    const store = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
    expect(rememberedLimits(store)).toEqual(NO_LIMITS);
    rememberLimits(store, LIMITS);
    expect(rememberedLimits(store)).toEqual(LIMITS);
    for (const key of kept.keys()) kept.set(key, "{");
    expect(rememberedLimits(store)).toEqual(NO_LIMITS);
  });

  it("are none where storage is forbidden", () => {
    const fail = () => {
      throw new Error("SecurityError");
    };
    expect(rememberedLimits({ getItem: fail, setItem: fail })).toEqual(NO_LIMITS);
    rememberLimits({ getItem: fail, setItem: fail }, LIMITS);
  });
});
