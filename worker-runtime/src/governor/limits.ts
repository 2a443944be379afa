// The limits that a volunteer sets for this device, and their stored form. Page thread; pure.

export interface Limits {
  /** Compute only while the device is charging. */
  readonly onlyCharging: boolean;
  /** Pause below this level of the battery in percent, unless the device is charging. Null: no floor. */
  readonly batteryFloor: number | null;
  /** Pause while the browser reports a mobile connection, or the wish to save data. */
  readonly onlyUnmetered: boolean;
  /** The hours of the day in which to compute. Null: all of them. */
  readonly hours: Hours | null;
  /** The most minutes of computing in one day of the device's calendar. Null: no end. */
  readonly minutesADay: number | null;
  /** The most bytes that are fetched in one day of the device's calendar. Null: no limit. */
  readonly dataADay: number | null;
  /** The most bytes that are fetched for one study at once. Null: no limit. */
  readonly dataAStudy: number | null;
  /** The part of the processor's time that trials get, above 0 and at most 1. Between steps, the thread rests. */
  readonly processorShare: ProcessorShare;
}

export const PROCESSOR_SHARES = [1, 0.5, 0.25] as const;
export type ProcessorShare = (typeof PROCESSOR_SHARES)[number];

/** Full hours of the device's own time, 0 to 23. The time from `from` until `until`, over midnight if `until` is less. */
export interface Hours {
  readonly from: number;
  readonly until: number;
}

export const NO_LIMITS: Limits = {
  onlyCharging: false,
  batteryFloor: null,
  onlyUnmetered: false,
  hours: null,
  minutesADay: null,
  dataADay: null,
  dataAStudy: null,
  processorShare: 1,
};

export const BATTERY_FLOORS = [20, 30, 50, 80] as const;
export const DATA_A_DAY = [50e6, 200e6, 1e9, 5e9] as const;
export const DATA_A_STUDY = [20e6, 100e6, 500e6] as const;
export const MINUTES_A_DAY = [15, 30, 60, 120, 240] as const;

/** Returns limits from a stored value. A part that is invalid does not limit. */
export function limitsOf(value: unknown): Limits {
  if (typeof value !== "object" || value === null) return NO_LIMITS;
  const stored = value as Readonly<Record<string, unknown>>;
  const { onlyCharging, batteryFloor, onlyUnmetered, hours, minutesADay, processorShare } = stored;
  const { dataADay, dataAStudy } = stored;
  return {
    onlyCharging: onlyCharging === true,
    batteryFloor: oneOf(BATTERY_FLOORS, batteryFloor),
    onlyUnmetered: onlyUnmetered === true,
    hours: hoursOf(hours),
    minutesADay: oneOf(MINUTES_A_DAY, minutesADay),
    dataADay: oneOf(DATA_A_DAY, dataADay),
    dataAStudy: oneOf(DATA_A_STUDY, dataAStudy),
    processorShare: PROCESSOR_SHARES.find((share) => share === processorShare) ?? 1,
  };
}

function oneOf(choices: readonly number[], value: unknown): number | null {
  return choices.find((choice) => choice === value) ?? null;
}

function hoursOf(value: unknown): Hours | null {
  if (typeof value !== "object" || value === null) return null;
  const { from, until } = value as Readonly<Record<string, unknown>>;
  return isHour(from) && isHour(until) && from !== until ? { from, until } : null;
}

function isHour(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 23;
}
