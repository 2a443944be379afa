// Decides whether this device may compute now, from the volunteer's limits and from what the browser reports. A pure
// state machine: events in, a verdict out, no clock and no browser of its own. Page thread.
//
//     let state = governorOf(limits, used);
//     state = handle(state, { kind: "battery", battery: { level: 0.4, isCharging: false } });
//     verdict(state); // "not_charging"
//
// What a browser does not report is unknown (null), and a limit on something unknown does not pause.

import type { DataLimits } from "./data_limits.ts";
import { coolHeat, type Heat, sampled } from "./heat.ts";
import type { Limits } from "./limits.ts";
import { noPressure, type Pressure, type PressureState, passed, reported } from "./pressure.ts";

/** The limit that pauses this device. Each has a sentence in `web-client/src/i18n`. */
export type PausingRule =
  | "not_charging"
  | "battery_low"
  | "metered"
  | "outside_hours"
  | "minutes_used"
  | "data_used";

/** Why the processor rests between steps, apart from the volunteer's own choice. */
export interface Cooling {
  /** Whether this device became slow, or the browser reports a heavy load. */
  readonly cause: "heat" | "pressure";
  /** The part of the lent time that is left for trials. */
  readonly share: 0.5 | 0.25;
}

export interface Battery {
  /** The charge from 0 to 1. */
  readonly level: number;
  readonly isCharging: boolean;
}

/** The computing and the fetching of one day. */
export interface Used {
  /** The day in the device's calendar, as YYYY-MM-DD. */
  readonly day: string;
  readonly ms: number;
  /** The bytes that were fetched. */
  readonly bytes: number;
}

export type GovernorEvent =
  | { readonly kind: "limits"; readonly limits: Limits }
  | { readonly kind: "battery"; readonly battery: Battery | null }
  | { readonly kind: "connection"; readonly isMetered: boolean | null }
  | { readonly kind: "fetched"; readonly bytes: number }
  /** The processor's speed now, in any unit. Comes every few seconds while a trial computes. */
  | { readonly kind: "pace"; readonly nowMs: number; readonly pace: number }
  /** The browser's Compute Pressure; null if it is unknown. */
  | { readonly kind: "pressure"; readonly nowMs: number; readonly state: PressureState | null }
  | {
      readonly kind: "clock";
      /** A time that never goes back, in milliseconds. */
      readonly nowMs: number;
      readonly day: string;
      /** The hour of the day, 0 to 23. */
      readonly hour: number;
      /** Whether a trial computes or loads. */
      readonly isBusy: boolean;
    };

export interface Governor {
  readonly limits: Limits;
  readonly battery: Battery | null;
  readonly isMetered: boolean | null;
  readonly hour: number | null;
  readonly used: Used;
  /** The time of the last clock event; null before the first one. */
  readonly tickedAt: number | null;
  readonly wasBusy: boolean;
  /** Whether the battery has fallen below its floor and not yet risen enough. */
  readonly isBatteryLow: boolean;
  readonly heat: Heat;
  readonly pressure: Pressure;
}

/** A battery that was too low must rise by this above the floor, so that a device does not switch all the time. */
export const RISE = 0.05;
/** The most that one step of the clock adds, because a device that slept did not compute. */
export const LONGEST_STEP_MS = 5_000;
const MINUTE_MS = 60_000;

export function governorOf(limits: Limits, used: Used): Governor {
  return {
    limits,
    battery: null,
    isMetered: null,
    hour: null,
    used,
    tickedAt: null,
    wasBusy: false,
    isBatteryLow: false,
    heat: coolHeat(),
    pressure: noPressure(),
  };
}

export function handle(before: Governor, event: GovernorEvent): Governor {
  switch (event.kind) {
    case "limits":
      // A new floor counts at once, without the rise.
      return judged({ ...before, limits: event.limits, isBatteryLow: false });
    case "battery":
      return judged({ ...before, battery: event.battery });
    case "connection":
      return { ...before, isMetered: event.isMetered };
    case "fetched":
      return {
        ...before,
        used: { ...before.used, bytes: before.used.bytes + event.bytes },
      };
    case "pace":
      return { ...before, heat: sampled(before.heat, event) };
    case "pressure":
      return { ...before, pressure: reported(before.pressure, event.state, event.nowMs) };
    case "clock":
      return ticked(before, event);
    default:
      return event satisfies never;
  }
}

/** Returns the limit that pauses this device now; null if it may compute. */
export function verdict(state: Governor): PausingRule | null {
  const { limits, battery, isMetered, hour, used, isBatteryLow, wasBusy } = state;
  if (limits.onlyCharging && battery?.isCharging === false) return "not_charging";
  if (isBatteryLow) return "battery_low";
  if (limits.onlyUnmetered && isMetered === true) return "metered";
  if (limits.hours !== null && hour !== null && !isWithin(limits.hours, hour)) {
    return "outside_hours";
  }
  const { minutesADay, dataADay } = limits;
  if (minutesADay !== null && used.ms >= minutesADay * MINUTE_MS) return "minutes_used";
  // A trial that has its files needs no more, so it goes on.
  return dataADay !== null && used.bytes >= dataADay && !wasBusy ? "data_used" : null;
}

/** Returns what may still be fetched. */
export function dataLimits({ limits, used }: Governor): DataLimits {
  const { dataADay, dataAStudy } = limits;
  const dayLeft = dataADay === null ? null : Math.max(0, dataADay - used.bytes);
  return { study: dataAStudy, dayLeft };
}

/** Returns why the processor rests between steps; null if it does not. */
export function cooling({ heat, pressure }: Governor): Cooling | null {
  const share = Math.min(heat.share, pressure.share) as 1 | 0.5 | 0.25;
  if (share === 1) return null;
  return { cause: heat.share === share ? "heat" : "pressure", share };
}

function judged(state: Governor): Governor {
  const { battery, limits, isBatteryLow } = state;
  if (battery === null || limits.batteryFloor === null || battery.isCharging) {
    return { ...state, isBatteryLow: false };
  }
  const floor = limits.batteryFloor / 100;
  // A full battery is enough even for a floor that leaves no room for the rise.
  const enough = Math.min(1, isBatteryLow ? floor + RISE : floor);
  return { ...state, isBatteryLow: battery.level < enough };
}

function ticked(before: Governor, event: Extract<GovernorEvent, { kind: "clock" }>): Governor {
  const { nowMs, day, hour, isBusy } = event;
  const passedMs = before.tickedAt === null ? 0 : Math.max(0, nowMs - before.tickedAt);
  const added = before.wasBusy ? Math.min(passedMs, LONGEST_STEP_MS) : 0;
  const earlier = before.used.day === day ? before.used : { ms: 0, bytes: 0 };
  return {
    ...before,
    hour,
    used: { day, ms: earlier.ms + added, bytes: earlier.bytes },
    pressure: passed(before.pressure, nowMs),
    tickedAt: nowMs,
    wasBusy: isBusy,
  };
}

function isWithin({ from, until }: { from: number; until: number }, hour: number): boolean {
  return from < until ? hour >= from && hour < until : hour >= from || hour < until;
}
