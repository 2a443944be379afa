// What this browser reports to the governor. Battery and connection exist in some browsers only: elsewhere their limits
// do not count, and the page does not offer them. Page thread.

import type { Battery, Used } from "../governor/governor.ts";
import type { Sensors } from "./governor_host.ts";
import type { NoteStore } from "./last_visit.ts";

const STORAGE_KEY = "hyperflock.computed-today";

interface BatteryManager extends EventTarget {
  readonly level: number;
  readonly charging: boolean;
}

interface NetworkInformation extends EventTarget {
  readonly type?: string;
  readonly saveData?: boolean;
}

interface ReportingNavigator {
  readonly getBattery?: () => Promise<BatteryManager>;
  readonly connection?: NetworkInformation;
}

/** Which limits this browser can keep. */
export interface Reports {
  readonly battery: boolean;
  readonly connection: boolean;
}

export function reportsOf(browser: object): Reports {
  const { getBattery, connection } = browser as ReportingNavigator;
  return { battery: typeof getBattery === "function", connection: connection !== undefined };
}

export function browserSensors(store: NoteStore): Sensors {
  const browser = navigator as ReportingNavigator;
  return {
    watchBattery: (tell) => watchBattery(browser, tell),
    watchConnection: (tell) => watchConnection(browser, tell),
    now: () => performance.now(),
    date: () => new Date(),
    every: (ms, tick) => {
      const timer = setInterval(tick, ms);
      return () => clearInterval(timer);
    },
    readUsed: () => readUsed(store),
    storeUsed: (used) => {
      try {
        store.setItem(STORAGE_KEY, JSON.stringify(used));
      } catch {
        // Storage is forbidden, so the minutes are those of this visit.
      }
    },
  };
}

function watchBattery(browser: ReportingNavigator, tell: (battery: Battery | null) => void): void {
  browser
    .getBattery?.()
    .then((battery) => {
      const report = () => tell({ level: battery.level, isCharging: battery.charging });
      battery.addEventListener("chargingchange", report);
      battery.addEventListener("levelchange", report);
      report();
    })
    .catch(() => {}); // The browser refuses, so the battery stays unknown.
}

function watchConnection(
  { connection }: ReportingNavigator,
  tell: (isMetered: boolean | null) => void,
): void {
  if (connection === undefined) return;
  const report = () => tell(connection.saveData === true || connection.type === "cellular");
  connection.addEventListener("change", report);
  report();
}

function readUsed(store: NoteStore): Used | null {
  try {
    const value: unknown = JSON.parse(store.getItem(STORAGE_KEY) ?? "null");
    if (typeof value !== "object" || value === null) return null;
    const { day, ms } = value as Readonly<Record<string, unknown>>;
    const isValid = typeof day === "string" && typeof ms === "number" && ms >= 0;
    return isValid ? { day, ms } : null;
  } catch {
    return null; // Storage is forbidden, or another program wrote the value.
  }
}
