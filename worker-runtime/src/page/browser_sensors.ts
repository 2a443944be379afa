// What this browser reports to the governor. Battery, connection and pressure exist in some browsers only: elsewhere
// their limits do not count, and the page does not offer them. Page thread.

import type { Battery, Used } from "../governor/governor.ts";
import { PRESSURE_STATES, type PressureState } from "../governor/pressure.ts";
import { type ProbeScope, sharesMemory } from "../page_contract/probe.ts";
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

interface PressureRecord {
  readonly state: string;
}

interface PressureObserver {
  observe(source: "cpu", options: { readonly sampleInterval: number }): Promise<void>;
}

interface PressureScope {
  readonly PressureObserver?: {
    new (tell: (records: readonly PressureRecord[]) => void): PressureObserver;
    readonly knownSources?: readonly string[];
  };
}

const PRESSURE_INTERVAL_MS = 1_000;

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
    watchPressure,
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

/**
 * Chromium tells the pressure of the whole device, and tells it only to a page with the system's focus. A state from
 * before the loss of the focus says nothing, so it is unknown meanwhile.
 */
function watchPressure(tell: (state: PressureState | null) => void): void {
  const Observer = (globalThis as PressureScope).PressureObserver;
  // Without shared memory, trials cannot rest.
  if (Observer === undefined || !sharesMemory(globalThis as ProbeScope)) return;
  if (Observer.knownSources?.includes("cpu") === false) return;
  let newest: PressureState | null = null;
  const report = () => tell(document.hasFocus() ? newest : null);
  const observer = new Observer((records) => {
    const state = records.at(-1)?.state;
    newest = PRESSURE_STATES.find((known) => known === state) ?? null;
    report();
  });
  observer.observe("cpu", { sampleInterval: PRESSURE_INTERVAL_MS }).then(
    () => {
      addEventListener("focus", report);
      addEventListener("blur", report);
    },
    () => {}, // The browser refuses, so the pressure stays unknown.
  );
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

function readUsed(store: NoteStore): Used | null {
  try {
    const value: unknown = JSON.parse(store.getItem(STORAGE_KEY) ?? "null");
    if (typeof value !== "object" || value === null) return null;
    // Earlier versions stored no bytes.
    const { day, ms, bytes = 0 } = value as Readonly<Record<string, unknown>>;
    const isValid = typeof day === "string" && isAmount(ms) && isAmount(bytes);
    return isValid ? { day, ms, bytes } : null;
  } catch {
    return null; // Storage is forbidden, or another program wrote the value.
  }
}
