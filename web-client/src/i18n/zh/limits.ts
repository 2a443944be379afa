// The texts of the limits that a volunteer sets, in Simplified Chinese. Page thread; pure data.

import type { LimitsWords } from "../limits_words.ts";

export const zhLimits: LimitsWords = {
  heading: "这台设备何时计算",
  none: "此页面打开时随时计算",
  hint: "这些选择保存在这台设备上。只要能看到此页面，暂停会自动结束。",
  onlyCharging: "仅在充电时",
  onlyUnmetered: "不使用移动数据",
  batteryFloor: "电池",
  noFloor: "不限电量",
  floor: (percent) => `低于 ${percent} 时暂停`,
  hours: "一天中的时段",
  anyHour: "任何时间",
  from: "从",
  until: "到",
  minutesADay: "每天的时间",
  noEnd: "打开多久算多久",
  minutes: (minutes) => `最多 ${minutes}`,
  dataADay: "每天的流量",
  dataAStudy: "每个研究的流量",
  anyData: "试验需要多少就用多少",
  data: (size) => `最多 ${size}`,
  processor: "处理器",
  processorShares: {
    1: "全部时间",
    0.5: "一半时间，温度较低",
    0.25: "四分之一时间，温度最低",
  },
  short: {
    not_charging: () => "仅在充电时",
    battery_low: ({ percent }) => `电量高于 ${percent}`,
    metered: () => "不使用移动数据",
    outside_hours: ({ from, until }) => `${from} 至 ${until}`,
    minutes_used: ({ minutes }) => `每天 ${minutes}`,
    data_used: ({ dataADay }) => `每天 ${dataADay} 流量`,
  },
  shortStudy: (size) => `每个研究 ${size} 流量`,
  refused: {
    study: (study, size, limit) =>
      `研究“${study}”需要下载 ${size}，而你允许每个研究 ${limit}。提高上限后它会自动开始。下载较少的研究会立即开始。`,
    day: (study, size, limit) =>
      `研究“${study}”需要下载 ${size}，而你每天允许的 ${limit} 所剩不够。它会在明天或提高上限后自动开始。下载较少的研究会立即开始。`,
  },
  paused: {
    not_charging: () => ({ title: "已暂停：未充电", text: "这台设备充电时会自动继续计算。" }),
    battery_low: ({ percent }) => ({
      title: "已暂停：电量低",
      text: `电量低于 ${percent}。电量回升或接上电源后会自动继续计算。`,
    }),
    metered: () => ({
      title: "已暂停：移动数据",
      text: "这台设备连上 Wi-Fi 且未开启省流量模式时，会自动继续计算。",
    }),
    outside_hours: ({ from, until }) => ({
      title: `暂停至 ${from}`,
      text: `你选择的时段是 ${from} 至 ${until}。到时会自动继续计算。`,
    }),
    minutes_used: ({ minutes }) => ({
      title: "已暂停：今天已够",
      text: `这台设备今天已计算 ${minutes}。明天会自动继续。`,
    }),
    data_used: ({ dataADay }) => ({
      title: "已暂停：今天的流量已够",
      text: `这台设备已下载你每天允许的 ${dataADay}。明天或提高上限后会自动继续。`,
    }),
  },
  cooling: {
    heat: (share) => ({
      title: `降温中：使用 ${share} 的时间`,
      text: "这台设备变慢了，发热的设备常会这样。试验会间歇进行，等休息不再有帮助时就不再休息。",
    }),
    pressure: (share) => ({
      title: `降温中：使用 ${share} 的时间`,
      text: "浏览器报告这台设备负载很高。试验会间歇进行，负载下降后就不再休息。",
    }),
  },
};
