// Is this page inside an app's own browser, and which one's? Such browsers often lack isolation or are ended with the
// app's next tap; the page then tells the way out. By name, because no feature tells it apart. Page thread; pure.

export type InAppName = "line" | "instagram" | "facebook" | "x" | "google" | "wechat" | "other";
export type System = "ios" | "android" | "other";

export interface InAppBrowser {
  readonly app: InAppName;
  /** As people know it; null where only the fact is known. */
  readonly label: string | null;
  readonly system: System;
}

/** Marks that the apps leave in `navigator.userAgent`; the first that fits. `; wv)` is Android's WebView in any app. */
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

/** LINE opens a link with this parameter in the system's browser; the other apps offer pages no way. */
export function linkOutside(link: string, browser: InAppBrowser): string | null {
  if (browser.app !== "line" || browser.system === "other") {
    return null;
  }
  const url = new URL(link);
  url.searchParams.set("openExternalBrowser", "1");
  return url.href;
}
