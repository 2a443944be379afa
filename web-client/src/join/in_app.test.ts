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
    [`${IPHONE} Mobile/15E148 musical_ly_39.5.0 BytedanceWebview/d8a21c6`, "tiktok", "ios"],
    [`${ANDROID} trill_390503 BytedanceWebview/d8a21c6`, "tiktok", "android"],
    [`${IPHONE} Mobile/15E148 YJApp-IOS jp.co.yahoo.ipn.appli/4.140.0`, "yahoo_japan", "ios"],
    [`${ANDROID} YJApp-ANDROID jp.co.yahoo.android.yjtop/3.190.0`, "yahoo_japan", "android"],
    [`${IPHONE} Mobile/15E148 [LinkedInApp]/9.31`, "linkedin", "ios"],
    [`${ANDROID} LinkedInApp/4.1`, "linkedin", "android"],
    [`${IPHONE} Mobile/15E148 Snapchat/13.40 (like Safari/8618, panda)`, "snapchat", "ios"],
    [`${ANDROID} Snapchat/13.40`, "snapchat", "android"],
    [`${IPHONE} Mobile/15E148 KAKAOTALK 25.6.0`, "kakaotalk", "ios"],
    [`${ANDROID} KAKAOTALK/25.6.0 (INAPP)`, "kakaotalk", "android"],
    [ANDROID, "other", "android"],
    [`${IPHONE} Mobile/15E148`, "other", "ios"],
  ])("%s", (userAgent, app, system) => {
    expect(inAppBrowser(userAgent, false)).toMatchObject({ app, system });
  });

  it("leaves a page that was opened from its icon alone", () => {
    expect(inAppBrowser(`${IPHONE} Mobile/15E148`, true)).toBeNull();
  });

  it.each([
    `${IPHONE} Version/18.5 Mobile/15E148 Safari/604.1`,
    `${IPHONE} CriOS/138.0.7204.119 Mobile/15E148 Safari/604.1`,
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/138.0.0.0 Safari/537.36",
    "",
  ])("leaves a browser of its own alone: %s", (userAgent) => {
    expect(inAppBrowser(userAgent, false)).toBeNull();
  });
});

describe("linkOutside", () => {
  const link = "https://flock.example/join#hfe_1";

  it("is LINE's parameter, before the code", () => {
    expect(linkOutside(link, { app: "line", label: "LINE", system: "ios" })).toBe(
      "https://flock.example/join?openExternalBrowser=1#hfe_1",
    );
  });

  it("is an intent for Chrome in other apps on Android, with the code", () => {
    const intent =
      "intent://flock.example/join#hfe_1#Intent;scheme=https;action=android.intent.action.VIEW;" +
      "category=android.intent.category.BROWSABLE;package=com.android.chrome;" +
      "S.browser_fallback_url=https%3A%2F%2Fflock.example%2Fjoin%23hfe_1;end";
    for (const app of ["tiktok", "snapchat", "other"] as const) {
      expect(linkOutside(link, { app, label: null, system: "android" })).toBe(intent);
    }
  });

  it("is KakaoTalk's own address", () => {
    expect(linkOutside(link, { app: "kakaotalk", label: "KakaoTalk", system: "ios" })).toBe(
      "kakaotalk://web/openExternal?url=https%3A%2F%2Fflock.example%2Fjoin%23hfe_1",
    );
  });

  it("is not offered where the app has none", () => {
    expect(linkOutside(link, { app: "wechat", label: "WeChat", system: "ios" })).toBeNull();
    expect(linkOutside(link, { app: "line", label: "LINE", system: "other" })).toBeNull();
  });
});
