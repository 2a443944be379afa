// Detects whether this page is inside an app's own browser, and in which app. Such browsers often lack isolation, or
// they close when the reader next taps in the app. So the page explains how to open another browser. Apps are detected
// by name, because no feature distinguishes them. Page thread; pure.

export type InAppName = "line" | "instagram" | "facebook" | "x" | "google" | "wechat" | "other";
export type System = "ios" | "android" | "other";

export interface InAppBrowser {
  readonly app: InAppName;
  /** The app's usual name, or null if the app is unknown. */
  readonly label: string | null;
  readonly system: System;
}

/**
 * Texts in `navigator.userAgent` that identify apps. The first match counts. `; wv)` is Android's WebView in any
 * app.
 */
const MARKS: readonly (readonly [RegExp, InAppName, string | null])[] = [
  [/\bLine\//i, "line", "LINE"],
  [/\bInstagram\b/, "instagram", "Instagram"],
  [/\bFBAN\/Messenger|\bFB_IAB\/Orca|\bMessengerLite/, "facebook", "Messenger"],
  [/\bFB(?:AN|AV|_IAB)\b/, "facebook", "Facebook"],
  [/\bTwitter(?:Android| for )/, "x", "X"],
  [/\bMicroMessenger\//, "wechat", "WeChat"],
  [/\bGSA\//, "google", "Google"],
  [/; wv\)/, "other", null],
];

function systemOf(userAgent: string): System {
  if (/\bAndroid\b/.test(userAgent)) {
    return "android";
  }
  return /\b(?:iPhone|iPad|iPod)\b/.test(userAgent) ? "ios" : "other";
}

export function inAppBrowser(userAgent: string): InAppBrowser | null {
  const found = MARKS.find(([mark]) => mark.test(userAgent));
  return found === undefined
    ? null
    : { app: found[1], label: found[2], system: systemOf(userAgent) };
}

/**
 * Returns the link with a parameter that makes LINE open it in the system's browser. Other apps have no such
 * parameter.
 */
export function linkOutside(link: string, browser: InAppBrowser): string | null {
  if (browser.app !== "line" || browser.system === "other") {
    return null;
  }
  const url = new URL(link);
  url.searchParams.set("openExternalBrowser", "1");
  return url.href;
}
