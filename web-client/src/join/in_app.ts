// Detects whether this page is inside an app's own browser, and in which app. Such browsers often lack isolation, or
// they close when the reader next taps in the app. So the page explains how to open another browser. Apps are detected
// by name, because no feature distinguishes them. Page thread; pure.

export type InAppName =
  | "line"
  | "instagram"
  | "facebook"
  | "x"
  | "google"
  | "wechat"
  | "tiktok"
  | "yahoo_japan"
  | "linkedin"
  | "snapchat"
  | "kakaotalk"
  | "other";
export type System = "ios" | "android" | "other";

export interface InAppBrowser {
  readonly app: InAppName;
  /** The app's usual name, or null if the app is unknown. */
  readonly label: string | null;
  readonly system: System;
}

/**
 * Texts in `navigator.userAgent` that identify apps. The first match counts. `; wv)` is Android's WebView in any app.
 * On iOS, only browsers and apps that want to be taken for one call themselves Safari.
 */
const MARKS: readonly (readonly [RegExp, InAppName, string | null])[] = [
  [/\bLine\//i, "line", "LINE"],
  [/\bInstagram\b/, "instagram", "Instagram"],
  [/\bFBAN\/Messenger|\bFB_IAB\/Orca|\bMessengerLite/, "facebook", "Messenger"],
  [/\bFB(?:AN|AV|_IAB)\b/, "facebook", "Facebook"],
  [/\bTwitter(?:Android| for )/, "x", "X"],
  [/\bMicroMessenger\//, "wechat", "WeChat"],
  [/\bGSA\//, "google", "Google"],
  [/\bBytedanceWebview\/|\bmusical_ly|\btrill_|\bTikTok\b/, "tiktok", "TikTok"],
  [/\bYJApp-(?:IOS|ANDROID)\b/, "yahoo_japan", "Yahoo! JAPAN"],
  [/\bLinkedInApp\b/, "linkedin", "LinkedIn"],
  [/\bSnapchat\b/, "snapchat", "Snapchat"],
  [/\bKAKAOTALK\b/i, "kakaotalk", "KakaoTalk"],
  [/; wv\)/, "other", null],
  [/\((?:iPhone|iPad|iPod)\b[^)]*\) AppleWebKit\/(?!.*\bSafari\/)/, "other", null],
];

function systemOf(userAgent: string): System {
  if (/\bAndroid\b/.test(userAgent)) {
    return "android";
  }
  return /\b(?:iPhone|iPad|iPod)\b/.test(userAgent) ? "ios" : "other";
}

/** `isInstalled` is whether the page was opened from its icon. iOS then names no browser, either. */
export function inAppBrowser(userAgent: string, isInstalled: boolean): InAppBrowser | null {
  if (isInstalled) return null;
  const found = MARKS.find(([mark]) => mark.test(userAgent));
  return found === undefined
    ? null
    : { app: found[1], label: found[2], system: systemOf(userAgent) };
}

/** Returns an address that opens the link in another browser, or null if the app has no such way. */
export function linkOutside(link: string, { app, system }: InAppBrowser): string | null {
  if (system === "other") return null;
  const url = new URL(link);
  if (app === "line") {
    url.searchParams.set("openExternalBrowser", "1");
    return url.href;
  }
  if (app === "kakaotalk") {
    return `kakaotalk://web/openExternal?url=${encodeURIComponent(link)}`;
  }
  return system === "android" ? intentOf(url) : null;
}

/**
 * Returns an address that Android opens in Chrome. The join code stays, because Android looks for the last `#`. Without
 * Chrome, the link is opened again where it is.
 */
function intentOf(url: URL): string {
  const address = url.href.slice(url.protocol.length);
  const parts = [
    `scheme=${url.protocol.slice(0, -1)}`,
    "action=android.intent.action.VIEW",
    "category=android.intent.category.BROWSABLE",
    "package=com.android.chrome",
    `S.browser_fallback_url=${encodeURIComponent(url.href)}`,
  ];
  return `intent:${address}#Intent;${parts.join(";")};end`;
}
