import { describe, expect, it } from "vitest";
import { InstallHint, type InstallOffer, isIosSafari } from "./install_hint.ts";

function scenario(change: { inApp?: boolean; installed?: boolean; ios?: boolean } = {}) {
  const kept = new Map<string, string>();
  const store = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  const hint = () =>
    new InstallHint({
      isInApp: change.inApp ?? false,
      isInstalled: change.installed ?? false,
      isIosSafari: change.ios ?? false,
      store,
    });
  return { hint, store };
}

function offer(outcome: "accepted" | "dismissed") {
  const log: string[] = [];
  const event = Object.assign(new Event("beforeinstallprompt", { cancelable: true }), {
    prompt: async () => void log.push("prompt"),
    userChoice: Promise.resolve({ outcome }),
  }) as InstallOffer;
  return { event, log };
}

describe("the hint to the home screen", () => {
  it("waits for the browser's offer, and opens its dialogue once", async () => {
    const hint = scenario().hint();
    expect(hint.way.value).toBe("none");
    const { event, log } = offer("dismissed");
    hint.offered(event);
    expect([hint.way.value, event.defaultPrevented]).toEqual(["button", true]);
    await hint.accept();
    await hint.accept();
    expect([hint.way.value, log]).toEqual(["none", ["prompt"]]);
    hint.offered(offer("dismissed").event);
    expect(hint.way.value).toBe("button");
  });

  it("does not come back once it is dismissed or accepted", async () => {
    for (const end of ["dismiss", "accept"] as const) {
      const { hint } = scenario({ ios: true });
      const first = hint();
      first.offered(offer("accepted").event);
      await first[end]();
      const next = hint();
      const { event } = offer("accepted");
      next.offered(event);
      expect([next.way.value, event.defaultPrevented], end).toEqual(["none", false]);
    }
  });

  it("is a sentence on iOS, and nothing in an app's browser or in the installed app", () => {
    expect(scenario({ ios: true }).hint().way.value).toBe("ios");
    for (const change of [{ inApp: true }, { installed: true }]) {
      const hint = scenario({ ios: true, ...change }).hint();
      hint.offered(offer("accepted").event);
      expect(hint.way.value).toBe("none");
    }
  });

  it("stays away where storage is forbidden", () => {
    const fail = () => {
      throw new Error("SecurityError");
    };
    const store = { getItem: fail, setItem: fail };
    const hint = new InstallHint({ isInApp: false, isInstalled: false, isIosSafari: true, store });
    expect(hint.way.value).toBe("none");
    hint.dismiss();
  });
});

describe("isIosSafari", () => {
  const iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15";
  const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15";
  it.each([
    [`${iphone} (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1`, 5, true],
    [`${mac} (KHTML, like Gecko) Version/18.5 Safari/605.1.15`, 5, true],
    [`${mac} (KHTML, like Gecko) Version/18.5 Safari/605.1.15`, 0, false],
    [`${iphone} (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1`, 5, false],
    [`${iphone} (KHTML, like Gecko) Mobile/15E148`, 5, false],
    ["Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537.36", 5, false],
  ])("%s with %i touches: %s", (userAgent, touches, expected) => {
    expect(isIosSafari(userAgent, touches)).toBe(expected);
  });
});
