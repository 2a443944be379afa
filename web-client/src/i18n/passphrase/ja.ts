// The Japanese texts about passphrases. Page thread; pure data.

import type { PassphraseWords } from "./words.ts";

export const jaPassphrase: PassphraseWords = {
  text: "8 つの単語があれば、アカウントなしで別のスマートフォンやブラウザーに引き継げます。単語を知っている人には貢献の量だけが見え、ほかのことは何もわかりません。",
  kept: (count, formatted) =>
    count === 1
      ? "8 つの単語で引き継げます。この端末に設定されています。"
      : `8 つの単語で引き継げます。${formatted} 台の端末に設定され、合わせて数えられています。`,
  make: "8 つの単語で残す",
  makeNew: "新しい単語にする",
  makeNewHint:
    "新しい単語は、このブラウザーの端末の分だけから始まります。ほかの端末は前の単語のままです。",
  restore: "単語を入力する",
  working: "お待ちください…",
  words: "あなたの単語",
  once: "今すぐ書き留めてください。表示されるのは一度だけで、どこにも保存されません。",
  copy: "単語をコピー",
  copied: "コピーしました。",
  copyByHand: "コピーできませんでした。単語を書き留めてください。",
  done: "書き留めました",
  entry: "8 つの単語",
  entryHint: "それぞれの単語の最初の 3 文字だけでもかまいません。",
  confirm: "復元する",
  cancel: "キャンセル",
  problems: {
    unknown:
      "この単語が設定された端末はありません。単語と順番を確かめてください。設定した端末がすべて削除されている場合、復元できるものはありません。",
    full: "この単語はすでに多くの端末に設定されています。先にどれかの端末の情報を削除してください。",
    rate_limited: "試した回数が多すぎます。1 分ほど待ってから、もう一度お試しください。",
    unreachable: "サーバーに接続できませんでした。もう一度お試しください。",
    no_device: "先に一度開始してください。まだ残すものがありません。",
    not_kept:
      "今回だけ復元しました。このブラウザーは（プライベートウィンドウのように）何も保存しないため、次回もう一度単語を入力してください。",
  },
  unknownWord: (word) => `「${word}」は使われない単語です。`,
  count: (count, needed) => `入力された単語は ${count} 個です。${needed} 個必要です。`,
};
