// The Japanese texts about the page as an app. Page thread; pure data.

import type { AppWords } from "../../app_shell/words.ts";

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
