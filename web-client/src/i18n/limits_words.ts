// The texts of the limits that a volunteer sets, and of the pauses that follow from them. Page thread; pure data.

import type { Cooling, PausingRule } from "@hyperflock/worker-runtime/page";
import type { Notice } from "./dictionary.ts";

/** The values of the limits as the page writes them. */
export interface LimitValues {
  readonly percent: string;
  readonly from: string;
  readonly until: string;
  readonly minutes: string;
  readonly dataADay: string;
  readonly dataAStudy: string;
}

export interface LimitsWords {
  readonly heading: string;
  /** Says in the heading's second line that nothing is limited. */
  readonly none: string;
  readonly hint: string;
  readonly onlyCharging: string;
  readonly onlyUnmetered: string;
  readonly batteryFloor: string;
  readonly noFloor: string;
  readonly floor: (percent: string) => string;
  readonly hours: string;
  readonly anyHour: string;
  readonly from: string;
  readonly until: string;
  readonly minutesADay: string;
  readonly noEnd: string;
  readonly minutes: (minutes: string) => string;
  readonly dataADay: string;
  readonly dataAStudy: string;
  readonly anyData: string;
  readonly data: (size: string) => string;
  readonly processor: string;
  readonly processorShares: Readonly<Record<1 | 0.5 | 0.25, string>>;
  /** The limits in few words, for the heading's second line. */
  readonly short: Readonly<Record<PausingRule, (values: LimitValues) => string>>;
  /** The limit on the data of one study, in few words. */
  readonly shortStudy: (size: string) => string;
  /** Says why a study was not taken, and what would change it. */
  readonly refused: {
    readonly study: (study: string, size: string, limit: string) => string;
    readonly day: (study: string, size: string, limit: string) => string;
  };
  readonly paused: Readonly<Record<PausingRule, (values: LimitValues) => Notice>>;
  /** Said while trials get less of the processor. `share` is what they get of all its time. */
  readonly cooling: Readonly<Record<Cooling["cause"], (share: string) => Notice>>;
}

export const enLimits: LimitsWords = {
  heading: "When this device computes",
  none: "At any time while this page is open",
  hint: "This device keeps these choices. A pause ends by itself while this page is in sight.",
  onlyCharging: "Only while charging",
  onlyUnmetered: "Not on mobile data",
  batteryFloor: "Battery",
  noFloor: "Down to any level",
  floor: (percent) => `Pause below ${percent}`,
  hours: "Hours of the day",
  anyHour: "Any hour",
  from: "From",
  until: "Until",
  minutesADay: "Time in one day",
  noEnd: "As long as it is open",
  minutes: (minutes) => `At most ${minutes}`,
  dataADay: "Data in one day",
  dataAStudy: "Data for one study",
  anyData: "As much as trials need",
  data: (size) => `At most ${size}`,
  processor: "Processor",
  processorShares: {
    1: "All of its time",
    0.5: "Half of its time, cooler",
    0.25: "A quarter of its time, coolest",
  },
  short: {
    not_charging: () => "only while charging",
    battery_low: ({ percent }) => `battery above ${percent}`,
    metered: () => "not on mobile data",
    outside_hours: ({ from, until }) => `${from} to ${until}`,
    minutes_used: ({ minutes }) => `${minutes} a day`,
    data_used: ({ dataADay }) => `${dataADay} of data a day`,
  },
  shortStudy: (size) => `${size} of data for one study`,
  refused: {
    study: (study, size, limit) =>
      `The study “${study}” would fetch ${size}, and you allow ${limit} for one study. If you allow more, it starts by itself. A study that fetches less starts at once.`,
    day: (study, size, limit) =>
      `The study “${study}” would fetch ${size}, and too little is left of the ${limit} that you allow in one day. It starts by itself tomorrow, or if you allow more. A study that fetches less starts at once.`,
  },
  paused: {
    not_charging: () => ({
      title: "Paused: not charging",
      text: "Computing goes on by itself when this device is charging.",
    }),
    battery_low: ({ percent }) => ({
      title: "Paused: battery low",
      text: `The battery is below ${percent}. Computing goes on by itself when it has risen, or at the charger.`,
    }),
    metered: () => ({
      title: "Paused: mobile data",
      text: "Computing goes on by itself when this device is on Wi-Fi, with no wish to save data.",
    }),
    outside_hours: ({ from, until }) => ({
      title: `Paused until ${from}`,
      text: `You chose the hours from ${from} to ${until}. Computing goes on by itself then.`,
    }),
    minutes_used: ({ minutes }) => ({
      title: "Paused: enough for today",
      text: `This device has computed ${minutes} today. It goes on by itself tomorrow.`,
    }),
    data_used: ({ dataADay }) => ({
      title: "Paused: enough data for today",
      text: `This device has fetched the ${dataADay} that you allow in one day. It goes on by itself tomorrow, or if you allow more.`,
    }),
  },
  cooling: {
    heat: (share) => ({
      title: `Cooling: ${share} of the time`,
      text: "This device has become slow, as warm devices do. The trial goes on with rests in between, and without them as soon as rest no longer helps.",
    }),
    pressure: (share) => ({
      title: `Cooling: ${share} of the time`,
      text: "The browser reports that this device is under heavy load. The trial goes on with rests in between, and without them when the load has fallen.",
    }),
  },
};

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
