import { describe, expect, it } from "vitest";
import { NO_DATA_LIMITS } from "./data_limits.ts";
import {
  dataLimits,
  type Governor,
  type GovernorEvent,
  governorOf,
  handle,
  LONGEST_STEP_MS,
  type PausingRule,
  verdict,
} from "./governor.ts";
import { type Limits, limitsOf, NO_LIMITS } from "./limits.ts";

const DAY = "2026-11-27";
const fresh = (limits: Partial<Limits> = {}) =>
  governorOf({ ...NO_LIMITS, ...limits }, { day: DAY, ms: 0, bytes: 0 });
const after = (state: Governor, ...events: GovernorEvent[]) => events.reduce(handle, state);
const battery = (percent: number, isCharging = false): GovernorEvent => ({
  kind: "battery",
  battery: { level: percent / 100, isCharging },
});
const metered = (isMetered: boolean | null): GovernorEvent => ({ kind: "connection", isMetered });
const clock = (nowMs: number, hour = 12, isBusy = true, day = DAY): GovernorEvent => ({
  kind: "clock",
  nowMs,
  day,
  hour,
  isBusy,
});

interface Row {
  readonly name: string;
  readonly limits: Partial<Limits>;
  /** Each event with the verdict after it. */
  readonly steps: readonly (readonly [GovernorEvent, PausingRule | null])[];
}

const NIGHT = { from: 22, until: 6 };
const TABLE: readonly Row[] = [
  {
    name: "no limit: nothing pauses",
    limits: {},
    steps: [
      [battery(1), null],
      [metered(true), null],
      [clock(0, 3), null],
    ],
  },
  {
    name: "only charging: pauses off the charger, goes on at it, and not if unknown",
    limits: { onlyCharging: true },
    steps: [
      [{ kind: "battery", battery: null }, null],
      [battery(90), "not_charging"],
      [battery(90, true), null],
      [battery(100), "not_charging"],
    ],
  },
  {
    name: "a battery's floor: pauses below it, goes on 5 % above it",
    limits: { batteryFloor: 30 },
    steps: [
      [battery(30), null],
      [battery(29), "battery_low"],
      [battery(34), "battery_low"],
      [battery(35), null],
      [battery(31), null],
    ],
  },
  {
    name: "a battery's floor does not count at the charger",
    limits: { batteryFloor: 50 },
    steps: [
      [battery(10), "battery_low"],
      [battery(10, true), null],
      [battery(11), "battery_low"],
      [{ kind: "battery", battery: null }, null],
    ],
  },
  {
    name: "a new floor counts at once",
    limits: { batteryFloor: 50 },
    steps: [
      [battery(49), "battery_low"],
      [{ kind: "limits", limits: { ...NO_LIMITS, batteryFloor: 30 } }, null],
      [{ kind: "limits", limits: { ...NO_LIMITS, batteryFloor: 80 } }, "battery_low"],
      [{ kind: "limits", limits: NO_LIMITS }, null],
    ],
  },
  {
    name: "only unmetered: pauses on a mobile connection, and not if unknown",
    limits: { onlyUnmetered: true },
    steps: [
      [metered(true), "metered"],
      [metered(false), null],
      [metered(true), "metered"],
      [metered(null), null],
    ],
  },
  {
    name: "hours over midnight",
    limits: { hours: NIGHT },
    steps: [
      [clock(0, 21), "outside_hours"],
      [clock(1, 22), null],
      [clock(2, 23), null],
      [clock(3, 0), null],
      [clock(4, 5), null],
      [clock(5, 6), "outside_hours"],
    ],
  },
  {
    name: "hours of the day",
    limits: { hours: { from: 9, until: 17 } },
    steps: [
      [clock(0, 8), "outside_hours"],
      [clock(1, 9), null],
      [clock(2, 16), null],
      [clock(3, 17), "outside_hours"],
    ],
  },
  {
    name: "the first of several limits is named, and each must be kept",
    limits: { onlyCharging: true, onlyUnmetered: true, hours: NIGHT },
    steps: [
      [clock(0, 12), "outside_hours"],
      [metered(true), "metered"],
      [battery(50), "not_charging"],
      [battery(50, true), "metered"],
      [metered(false), "outside_hours"],
      [clock(1, 23), null],
    ],
  },
];

describe("the verdict", () => {
  it.each(TABLE)("$name", ({ limits, steps }) => {
    let state = fresh(limits);
    for (const [index, [event, expected]] of steps.entries()) {
      state = handle(state, event);
      expect(verdict(state), `step ${index}`).toBe(expected);
    }
  });
});

describe("the minutes of a day", () => {
  const quarter = 15 * 60_000;
  const ticks = (state: Governor, fromMs: number, untilMs: number, isBusy = true) => {
    let now = state;
    for (let ms = fromMs; ms <= untilMs; ms += 1_000) now = handle(now, clock(ms, 12, isBusy));
    return now;
  };

  it("are those in which a trial computes, and end at the limit", () => {
    const idle = ticks(fresh({ minutesADay: 15 }), 0, 60_000, false);
    expect(idle.used.ms).toBe(0);
    const nearly = ticks(idle, 60_000, 60_000 + quarter - 1_000);
    expect(verdict(nearly)).toBeNull();
    const end = ticks(nearly, 60_000 + quarter, 60_000 + quarter);
    expect(verdict(end)).toBe("minutes_used");
    // The pause itself uses none, and a larger limit counts at once.
    const limits = { ...NO_LIMITS, minutesADay: 30 };
    expect(verdict(after(end, { kind: "limits", limits }))).toBeNull();
  });

  it("begin anew on the next day", () => {
    const end = governorOf({ ...NO_LIMITS, minutesADay: 15 }, { day: DAY, ms: quarter, bytes: 7 });
    expect(verdict(after(end, clock(0, 23)))).toBe("minutes_used");
    expect(verdict(after(end, clock(0, 0, false, "2026-11-28")))).toBeNull();
  });

  it("do not count the sleep of a device, nor a clock that goes back", () => {
    const slept = after(fresh({ minutesADay: 15 }), clock(0), clock(8 * 3_600_000));
    expect(slept.used.ms).toBe(LONGEST_STEP_MS);
    expect(after(slept, clock(0)).used.ms).toBe(LONGEST_STEP_MS);
  });
});

describe("the data of a day", () => {
  const fetched = (bytes: number): GovernorEvent => ({ kind: "fetched", bytes });
  const limited = () => fresh({ dataADay: 200e6, dataAStudy: 20e6 });

  it("pauses at the limit, but no trial that has its files, and begins anew tomorrow", () => {
    const used = after(limited(), clock(0), fetched(150e6), fetched(50e6));
    expect(verdict(used)).toBeNull();
    const idle = after(used, clock(1_000, 12, false));
    expect(verdict(idle)).toBe("data_used");
    expect(verdict(after(idle, clock(2_000, 0, false, "2026-11-28")))).toBeNull();
    const limits = { ...NO_LIMITS, dataADay: 1e9 };
    expect(verdict(after(idle, { kind: "limits", limits }))).toBeNull();
  });

  it("leaves less and less for the next study", () => {
    expect(dataLimits(fresh())).toEqual(NO_DATA_LIMITS);
    const used = after(limited(), clock(0), fetched(150e6));
    expect(dataLimits(used)).toEqual({ study: 20e6, dayLeft: 50e6 });
    expect(dataLimits(after(used, fetched(60e6))).dayLeft).toBe(0);
    const tomorrow = after(used, clock(1_000, 0, false, "2026-11-28"));
    expect(dataLimits(tomorrow).dayLeft).toBe(200e6);
  });

  it("stays with the minutes of the same day", () => {
    const used = after(limited(), clock(0), fetched(5), clock(1_000), clock(2_000));
    expect(used.used).toEqual({ day: DAY, ms: 2_000, bytes: 5 });
  });
});

describe("stored limits", () => {
  it("are read as they were", () => {
    const limits: Limits = {
      onlyCharging: true,
      batteryFloor: 30,
      onlyUnmetered: true,
      hours: NIGHT,
      minutesADay: 60,
      dataADay: 200e6,
      dataAStudy: 20e6,
      processorShare: 0.5,
    };
    expect(limitsOf(JSON.parse(JSON.stringify(limits)))).toEqual(limits);
  });

  it.each([
    null,
    "x",
    [],
    {},
    { onlyCharging: 1, batteryFloor: 31, onlyUnmetered: "yes", hours: 5, minutesADay: -1 },
    { processorShare: 0 },
    { dataADay: 1, dataAStudy: "20000000" },
    { processorShare: "0.5" },
    { hours: { from: 5, until: 5 } },
    { hours: { from: -1, until: 24 } },
    { hours: { from: 1.5, until: "6" } },
  ])("that are invalid do not limit: %j", (value) => {
    expect(limitsOf(value)).toEqual(NO_LIMITS);
  });
});
