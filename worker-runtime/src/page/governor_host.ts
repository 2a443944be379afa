// Connects the governor to what the browser reports, and to the clock. Page thread. The caller passes in the browser.

import type { DataLimits } from "../governor/data_limits.ts";
import {
  type Battery,
  type Cooling,
  cooling,
  dataLimits,
  type Governor,
  type GovernorEvent,
  governorOf,
  handle,
  type PausingRule,
  type Used,
  verdict,
} from "../governor/governor.ts";
import { type Limits, NO_LIMITS } from "../governor/limits.ts";
import type { PressureState } from "../governor/pressure.ts";

/** The time between two looks at the clock, while this device takes part. */
export const TICK_MS = 1_000;
/** The time of computing after which the use of the day is stored again. */
const STORE_MS = 10_000;

/** What a browser reports. null: it does not report this. */
export interface Sensors {
  /** Calls back with the present value, and again after each change. */
  watchBattery(tell: (battery: Battery | null) => void): void;
  watchConnection(tell: (isMetered: boolean | null) => void): void;
  watchPressure(tell: (state: PressureState | null) => void): void;
  /** Returns a time that never goes back, in milliseconds. */
  now(): number;
  /** Returns the time in the device's calendar. */
  date(): Date;
  /** Calls `tick` about every `ms` milliseconds until the returned function is called. */
  every(ms: number, tick: () => void): () => void;
  readUsed(): Used | null;
  storeUsed(used: Used): void;
}

export class GovernorHost {
  readonly #sensors: Sensors;
  readonly #onChange: () => void;
  #state: Governor;
  #isBusy = false;
  #stored: Used;
  #rest: (() => void) | null = null;

  /** `onChange` is called after each change of `rule`, `cooling` or `dataLimits`. */
  constructor(sensors: Sensors, onChange: () => void) {
    this.#sensors = sensors;
    this.#onChange = onChange;
    this.#stored = { day: "", ms: 0, bytes: 0 };
    this.#state = governorOf(NO_LIMITS, this.#stored);
    // The browser answers some time later, so it is asked before the start.
    sensors.watchBattery((battery) => this.#handle({ kind: "battery", battery }));
    sensors.watchConnection((isMetered) => this.#handle({ kind: "connection", isMetered }));
    sensors.watchPressure((state) => {
      this.#handle({ kind: "pressure", nowMs: sensors.now(), state });
    });
  }

  /** The limit that pauses this device; null if it may compute. */
  get rule(): PausingRule | null {
    return verdict(this.#state);
  }

  /** Why the processor rests between steps; null if it does not. */
  get cooling(): Cooling | null {
    return cooling(this.#state);
  }

  setLimits(limits: Limits): void {
    this.#handle({ kind: "limits", limits });
  }

  /** Starts the clock. Another page of this browser may have used minutes of this day. */
  start(): void {
    if (this.#rest !== null) return;
    this.#stored = this.#sensors.readUsed() ?? this.#stored;
    this.#state = { ...this.#state, used: this.#stored, tickedAt: null, wasBusy: false };
    this.#tick();
    this.#rest = this.#sensors.every(TICK_MS, () => this.#tick());
  }

  /** Stops the clock. */
  stop(): void {
    if (this.#rest === null) return;
    this.#tick();
    this.#rest();
    this.#rest = null;
    this.#sensors.storeUsed(this.#state.used);
  }

  /** Says whether a trial loads or computes, from now on. */
  setBusy(isBusy: boolean): void {
    if (this.#isBusy === isBusy) return;
    this.#isBusy = isBusy;
    if (this.#rest !== null) this.#tick();
  }

  /** What may still be fetched. */
  get dataLimits(): DataLimits {
    return dataLimits(this.#state);
  }

  /** Counts bytes that were fetched. */
  addFetched(bytes: number): void {
    this.#handle({ kind: "fetched", bytes });
  }

  /** Takes the processor's speed, in any unit. */
  setPace(pace: number): void {
    this.#handle({ kind: "pace", nowMs: this.#sensors.now(), pace });
  }

  #tick(): void {
    const date = this.#sensors.date();
    const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
      .map((part) => String(part).padStart(2, "0"))
      .join("-");
    const nowMs = this.#sensors.now();
    const hour = date.getHours();
    this.#handle({ kind: "clock", nowMs, day, hour, isBusy: this.#isBusy });
    const { used } = this.#state;
    if (
      used.day !== this.#stored.day ||
      used.ms >= this.#stored.ms + STORE_MS ||
      used.bytes > this.#stored.bytes
    ) {
      this.#stored = used;
      this.#sensors.storeUsed(used);
    }
  }

  #handle(event: GovernorEvent): void {
    const { rule, cooling, dataLimits: data } = this;
    this.#state = handle(this.#state, event);
    const now = this.cooling;
    const isOther = now?.share !== cooling?.share || now?.cause !== cooling?.cause;
    const { study, dayLeft } = this.dataLimits;
    const hasData = study !== data.study || dayLeft !== data.dayLeft;
    if (this.rule !== rule || isOther || hasData) this.#onChange();
  }
}
