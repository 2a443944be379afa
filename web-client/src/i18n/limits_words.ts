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
