// The Japanese texts of the limits. Page thread; pure data.

import type { LimitsWords } from "../limits_words.ts";

export const jaLimits: LimitsWords = {
  heading: "計算するとき",
  none: "このページを開いている間はいつでも",
  hint: "設定はこの端末に保存されます。条件が整うと、このページが見えている間に計算が自動で再開します。",
  onlyCharging: "充電中だけ計算する",
  onlyUnmetered: "モバイル通信では計算しない",
  batteryFloor: "電池の残量",
  noFloor: "残量にかかわらず計算",
  floor: (percent) => `${percent} を下回ったら休む`,
  hours: "時間帯",
  anyHour: "いつでも",
  from: "開始時刻",
  until: "終了時刻",
  minutesADay: "1 日の計算時間",
  noEnd: "開いている間ずっと",
  minutes: (minutes) => `最大 ${minutes}`,
  dataADay: "1 日の通信量",
  dataAStudy: "1 つの研究の通信量",
  anyData: "必要なだけ",
  data: (size) => `最大 ${size}`,
  processor: "プロセッサー",
  processorShares: {
    1: "すべての時間を使う",
    0.5: "半分の時間を使う（発熱を抑える）",
    0.25: "4 分の 1 の時間を使う（発熱を最も抑える）",
  },
  short: {
    not_charging: () => "充電中のみ",
    battery_low: ({ percent }) => `電池 ${percent} 以上`,
    metered: () => "モバイル通信を除く",
    outside_hours: ({ from, until }) => `${from} から ${until} まで`,
    minutes_used: ({ minutes }) => `1 日 ${minutes}`,
    data_used: ({ dataADay }) => `通信量 1 日 ${dataADay}`,
  },
  shortStudy: (size) => `通信量 1 研究 ${size}`,
  refused: {
    study: (study, size, limit) =>
      `研究「${study}」には ${size} のダウンロードが必要ですが、1 つの研究の上限は ${limit} です。上限を上げると自動で始まります。通信量の少ない研究があれば、すぐに始まります。`,
    day: (study, size, limit) =>
      `研究「${study}」には ${size} のダウンロードが必要ですが、1 日の上限 ${limit} の残りが足りません。明日になるか上限を上げると、自動で始まります。通信量の少ない研究があれば、すぐに始まります。`,
  },
  paused: {
    not_charging: () => ({
      title: "休止中：充電していません",
      text: "充電が始まると、計算は自動で再開します。",
    }),
    battery_low: ({ percent }) => ({
      title: "休止中：電池の残量不足",
      text: `電池の残量が ${percent} を下回りました。残量が増えるか充電が始まると、計算は自動で再開します。`,
    }),
    metered: () => ({
      title: "休止中：モバイル通信",
      text: "Wi-Fi につながり、データ節約の設定がなければ、計算は自動で再開します。",
    }),
    outside_hours: ({ from, until }) => ({
      title: `${from} まで休止中`,
      text: `計算する時間帯は ${from} から ${until} までです。時間になると自動で再開します。`,
    }),
    minutes_used: ({ minutes }) => ({
      title: "休止中：今日の分は終わりました",
      text: `今日はこの端末で ${minutes} 計算しました。明日になると自動で再開します。`,
    }),
    data_used: ({ dataADay }) => ({
      title: "休止中：今日の通信量に達しました",
      text: `1 日の上限 ${dataADay} までダウンロードしました。明日になるか上限を上げると、自動で再開します。`,
    }),
  },
  cooling: {
    heat: (share) => ({
      title: `冷却中：時間の ${share} だけ計算`,
      text: "端末の処理が遅くなりました。熱くなった端末に起こることです。試行は合間に休みながら続き、休んでも速くならなくなると、休まずに計算します。",
    }),
    pressure: (share) => ({
      title: `冷却中：時間の ${share} だけ計算`,
      text: "端末の負荷が高いとブラウザーが報告しています。試行は合間に休みながら続き、負荷が下がると、休まずに計算します。",
    }),
  },
};
