import { describe, expect, it } from "vitest";
import { inAppBrowser, linkOutside } from "./in_app.ts";

const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
const ANDROID =
  "Mozilla/5.0 (Linux; Android 15; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36";

describe("inAppBrowser", () => {
  it.each([
    [`${IPHONE} Mobile/15E148 Safari Line/15.6.0`, "line", "ios"],
    [`${ANDROID} Line/15.6.0/IAB`, "line", "android"],
    [
      `${IPHONE} Mobile/15E148 Instagram 385.0.0.20.79 (iPhone14,5; iOS 18_5; ja_JP)`,
      "instagram",
      "ios",
    ],
    [`${ANDROID} Instagram 385.0.0.47.74 Android (35/15; 420dpi)`, "instagram", "android"],
    [`${IPHONE} Mobile/15E148 [FBAN/FBIOS;FBAV/515.0.0.40.109;FBBV/1]`, "facebook", "ios"],
    [`${ANDROID} [FB_IAB/FB4A;FBAV/515.0.0.40.109;]`, "facebook", "android"],
    [`${IPHONE} Mobile/15E148 [FBAN/MessengerForiOS;FBAV/505.0]`, "facebook", "ios"],
    [`${IPHONE} Mobile/15E148 Twitter for iPhone/11.4`, "x", "ios"],
    [`${ANDROID} TwitterAndroid`, "x", "android"],
    [`${IPHONE} GSA/375.0.768972153 Mobile/15E148 Safari/604.1`, "google", "ios"],
    [`${IPHONE} Mobile/15E148 MicroMessenger/8.0.60(0x18003c2b) NetType/WIFI`, "wechat", "ios"],
    [`${ANDROID} MicroMessenger/8.0.60.2860(0x28003C3B) WeChat/arm64`, "wechat", "android"],
    [ANDROID, "other", "android"],
  ])("%s", (userAgent, app, system) => {
    expect(inAppBrowser(userAgent)).toMatchObject({ app, system });
  });

  it.each([
    `${IPHONE} Version/18.5 Mobile/15E148 Safari/604.1`,
    `${IPHONE} CriOS/138.0.7204.119 Mobile/15E148 Safari/604.1`,
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/138.0.0.0 Safari/537.36",
    "",
  ])("leaves a browser of its own alone: %s", (userAgent) => {
    expect(inAppBrowser(userAgent)).toBeNull();
  });
});

describe("linkOutside", () => {
  const link = "https://flock.example/join#hfe_1";

  it("is LINE's parameter, before the code", () => {
    expect(linkOutside(link, { app: "line", label: "LINE", system: "ios" })).toBe(
      "https://flock.example/join?openExternalBrowser=1#hfe_1",
    );
  });

  it("is not offered where the app has none", () => {
    expect(linkOutside(link, { app: "wechat", label: "WeChat", system: "ios" })).toBeNull();
    expect(linkOutside(link, { app: "line", label: "LINE", system: "other" })).toBeNull();
  });
});
