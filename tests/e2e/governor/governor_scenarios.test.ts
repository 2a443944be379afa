// Tests each rule of the governor by simulated events in a real Chromium: within a second of the page's own clock a
// running trial stops or gets less of the processor, and the page says why. The trial goes on by itself when the cause
// has gone.

import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../../../worker-runtime/node/chromium.ts";
import { queueStudy, Server, tapStart } from "../stack.ts";
import {
  act,
  type DeviceCall,
  simulateDevice,
  titleInASecond,
  untilTitle,
} from "./simulated_device.ts";

const MINUTE_MS = 60_000;
const COMPUTING = "Computing";
const PHONE =
  "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

interface Scenario {
  readonly name: string;
  /** What happens, and the title that the page then has. */
  readonly events: readonly DeviceCall[];
  readonly title: string;
  /** What happens then, and again every tenth of a second, until the trial goes on. */
  readonly after: readonly DeviceCall[];
  readonly repeated?: readonly DeviceCall[];
}

interface Group {
  readonly limits: object;
  /** The computing of the device's day so far. */
  readonly usedMs?: number;
  readonly scenarios: readonly Scenario[];
}

const unplugged = (level: number): DeviceCall => ["report", { charging: false, level }];
const plugged: DeviceCall = ["report", { charging: true, level: 0.9 }];
const floor = (percent: number): Group => ({
  limits: { batteryFloor: percent },
  scenarios: [
    {
      name: `falls below ${percent} %, and rises by 5 %`,
      events: [unplugged(percent / 100 - 0.01)],
      title: "Paused: battery low",
      after: [unplugged(percent / 100 + 0.05)],
    },
  ],
});
const heat = (name: string, title: string, limits: object, slowS: number, pace: number): Group => ({
  limits,
  scenarios: [
    {
      name,
      events: [
        ["pace", 300, 4],
        ["pace", slowS, 1],
      ],
      title,
      after: [],
      repeated: [["pace", 10, pace]],
    },
  ],
});
const pressed = (name: string, state: string, title: string, after: DeviceCall): Scenario => ({
  name,
  events: [["press", state]],
  title,
  after: [after],
  repeated: [["later", 2]],
});

const GROUPS: Readonly<Record<string, Group>> = {
  "the charger": {
    limits: { onlyCharging: true },
    scenarios: [0.9, 1, 0.03].map((level) => ({
      name: `is unplugged at ${100 * level} %, and plugged in`,
      events: [unplugged(level)],
      title: "Paused: not charging",
      after: [plugged],
    })),
  },
  "a battery's floor of 20 %": floor(20),
  "a battery's floor of 30 %": floor(30),
  "a battery's floor of 80 %": floor(80),
  "a battery's floor": {
    limits: { batteryFloor: 50 },
    scenarios: [
      {
        name: "falls below 50 %, and rises by 5 %",
        events: [unplugged(0.49)],
        title: "Paused: battery low",
        after: [unplugged(0.55)],
      },
      {
        name: "is nearly empty, and plugged in",
        events: [unplugged(0.01)],
        title: "Paused: battery low",
        after: [["report", { charging: true }]],
      },
    ],
  },
  "the connection": {
    limits: { onlyUnmetered: true },
    scenarios: [
      {
        name: "becomes mobile, and Wi-Fi again",
        events: [["report", { cellular: true }]],
        title: "Paused: mobile data",
        after: [["report", { cellular: false }]],
      },
      {
        name: "is to save data, and no more",
        events: [["report", { saveData: true }]],
        title: "Paused: mobile data",
        after: [["report", { saveData: false }]],
      },
      {
        name: "becomes mobile and saves data, and neither",
        events: [["report", { cellular: true, saveData: true }]],
        title: "Paused: mobile data",
        after: [["report", { cellular: false, saveData: false }]],
      },
    ],
  },
  "hours of the day": {
    limits: { hours: { from: 9, until: 17 } },
    scenarios: [
      {
        name: "end, and begin tomorrow",
        events: [["moveDate", 5]],
        title: "Paused until 9:00",
        after: [["moveDate", 16]],
      },
      {
        name: "are over after a long sleep, and begin tomorrow",
        events: [["moveDate", 11]],
        title: "Paused until 9:00",
        after: [["moveDate", 16]],
      },
    ],
  },
  "hours over midnight": {
    limits: { hours: { from: 12, until: 6 } },
    scenarios: [
      {
        name: "end in the morning, and begin at noon",
        events: [["moveDate", 18]],
        title: "Paused until 12:00",
        after: [["moveDate", 6]],
      },
      {
        name: "are not now in another time zone, and then are",
        events: [["moveDate", -4]],
        title: "Paused until 12:00",
        after: [["moveDate", 4]],
      },
    ],
  },
  "15 minutes a day": {
    limits: { minutesADay: 15 },
    usedMs: 15 * MINUTE_MS - 500,
    scenarios: [
      {
        name: "are used up, and begin anew tomorrow",
        events: [],
        title: "Paused: enough for today",
        after: [["moveDate", 24]],
      },
    ],
  },
  "two limits": {
    limits: { onlyCharging: true, onlyUnmetered: true },
    scenarios: [
      {
        name: "begin together and end together",
        events: [["report", { charging: false, cellular: true }]],
        title: "Paused: not charging",
        after: [["report", { charging: true, cellular: false }]],
      },
      {
        name: "of which one ends, and then the other",
        events: [
          ["report", { charging: false, cellular: true }],
          ["report", { charging: true }],
        ],
        title: "Paused: mobile data",
        after: [["report", { cellular: false }]],
      },
      {
        name: "of which one ends, and then the other, in the other order",
        events: [
          ["report", { charging: false, cellular: true }],
          ["report", { cellular: false }],
        ],
        title: "Paused: not charging",
        after: [["report", { charging: true }]],
      },
    ],
  },
  "a page in sight": {
    limits: {},
    scenarios: [
      {
        name: "is hidden and shown",
        events: [["show", false]],
        title: "Paused",
        after: [["show", true]],
      },
      {
        name: "is hidden on battery and shown",
        events: [unplugged(0.5), ["show", false]],
        title: "Paused",
        after: [["show", true]],
      },
    ],
  },
  pressure: {
    limits: {},
    scenarios: [
      pressed("is serious, and nominal", "serious", "Cooling: 50% of the time", [
        "press",
        "nominal",
      ]),
      pressed("is serious, and fair", "serious", "Cooling: 50% of the time", ["press", "fair"]),
      pressed("is critical, and nominal", "critical", "Cooling: 25% of the time", [
        "press",
        "nominal",
      ]),
      pressed("is unknown without the focus", "serious", "Cooling: 50% of the time", [
        "focus",
        false,
      ]),
    ],
  },
  "pressure on a lent half": {
    limits: { processorShare: 0.5 },
    scenarios: [
      pressed("is serious, and nominal", "serious", "Cooling: 25% of the time", [
        "press",
        "nominal",
      ]),
    ],
  },
  "a heat curve": heat("slow, and fast again", "Cooling: 50% of the time", {}, 90, 4),
  "a deep heat curve": heat(
    "slow also at half of the time, and fast again",
    "Cooling: 25% of the time",
    {},
    150,
    4,
  ),
  "a heat curve of a lent half": heat(
    "slow, and fast again",
    "Cooling: 25% of the time",
    { processorShare: 0.5 },
    90,
    4,
  ),
  "a slowness that is no heat": heat(
    "slow for ever: the rests end",
    "Cooling: 50% of the time",
    {},
    90,
    1,
  ),
};

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await Server.start();
  browser = await launchChromium();
  await queueStudy(server, ["tests/e2e/objectives/constant.py", "--endless", "--trials", "60"]);
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  await browser?.close();
  await server?.dispose();
});

describe("The governor goes on by itself after", () => {
  test.each(Object.entries(GROUPS))("%s", async (_, { limits, usedMs = 0, scenarios }) => {
    const context = await browser.newContext({
      locale: "en-US",
      timezoneId: "UTC",
      userAgent: PHONE,
      viewport: { width: 390, height: 844 },
    });
    await simulateDevice(context);
    await context.addInitScript(
      ([stored, ms]) => {
        localStorage.setItem("hyperflock.limits", JSON.stringify(stored));
        const day = new Date().toISOString().slice(0, 10);
        localStorage.setItem("hyperflock.computed-today", JSON.stringify({ day, ms, bytes: 0 }));
      },
      [limits, usedMs] as const,
    );
    // The minutes of the day must not be used up before the trial computes.
    if (usedMs > 0) {
      await context.addInitScript(() => {
        (globalThis as unknown as { device: { hold(): void } }).device.hold();
      });
    }
    const page = await context.newPage();
    await page.goto(await server.joinUrl());
    await tapStart(page);
    await untilTitle(page, COMPUTING, []);
    for (const { name, events, title, after, repeated } of scenarios) {
      await titleInASecond(page, title, events);
      const text = await page.locator(".panel-text").textContent();
      expect(text?.length, name).toBeGreaterThan(20);
      await untilTitle(page, COMPUTING, after, repeated);
      await act(page, ["focus", true], ["press", "nominal"], plugged);
    }
  });
});
