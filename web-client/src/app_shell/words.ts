// The texts about the page as an app: without a connection, in a new version, on the home screen. Page thread; pure data.

import type { Notice } from "../i18n/dictionary.ts";

export interface AppWords {
  readonly offline: Notice;
  readonly newVersion: Notice;
  readonly reload: string;
  readonly install: Notice;
  readonly add: string;
  readonly notNow: string;
  /** The two steps in Safari on iOS. */
  readonly iosSteps: readonly [string, string];
  /** The dark page with a clock. */
  readonly night: { readonly begin: string; readonly label: string; readonly end: string };
}

export const enApp: AppWords = {
  offline: {
    title: "No connection",
    text: "Your projects are here. Computing goes on when this device reaches the server again and you tap Start.",
  },
  newVersion: {
    title: "A new version is ready",
    text: "Reload this page to use it. Nothing gets lost.",
  },
  reload: "Reload",
  install: {
    title: "Keep it at hand",
    text: "With an icon of its own, you come back with one tap.",
  },
  add: "Add icon",
  notNow: "No, thank you",
  iosSteps: ["Tap the share symbol in Safari’s bar.", "Choose “Add to Home Screen”."],
  night: { begin: "Dim for the night", label: "Night clock", end: "Tap to end" },
};

export const jaApp: AppWords = {
  offline: {
    title: "接続がありません",
    text: "プロジェクトはこの端末に残っています。サーバーにつながったら、「開始」を押すと計算が続きます。",
  },
  newVersion: {
    title: "新しい版があります",
    text: "ページを読み込み直すと使えます。失われるものはありません。",
  },
  reload: "読み込み直す",
  install: {
    title: "すぐに戻れるように",
    text: "専用のアイコンを置くと、次からひと押しで戻れます。",
  },
  add: "アイコンを追加",
  notNow: "追加しない",
  iosSteps: ["Safari のバーにある共有の記号を押します。", "「ホーム画面に追加」を選びます。"],
  night: { begin: "夜用に画面を暗くする", label: "夜の時計", end: "押すと戻ります" },
};
