// A device whose battery, connection, pressure, pace, clock and visibility a test sets, in a real Chromium. What the
// page reads of the browser is replaced before its first script.

import type { BrowserContext, Page } from "playwright-core";

export interface Reported {
  readonly charging?: boolean;
  readonly level?: number;
  readonly cellular?: boolean;
  readonly saveData?: boolean;
}

export interface Device {
  /** Changes what the browser reports. */
  report(change: Reported): void;
  /** Tells the page a state of Compute Pressure. */
  press(state: string): void;
  focus(hasFocus: boolean): void;
  show(isVisible: boolean): void;
  /** Lets the page's monotonic clock pass. */
  later(seconds: number): void;
  /** Moves the page's date, without its monotonic clock. */
  moveDate(hours: number): void;
  /** Lets the clock pass and tells the page the processor's pace every two seconds. */
  pace(seconds: number, pace: number): void;
  /** The number of paces that the python thread has measured. They do not reach the page. */
  measured: number;
}

/** Makes each page of this context a device at the charger, on Wi-Fi, at noon of today in UTC. */
export async function simulateDevice(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const battery = Object.assign(new EventTarget(), { charging: true, level: 0.9 });
    const connection = Object.assign(new EventTarget(), { type: "wifi", saveData: false });
    Object.defineProperty(navigator, "getBattery", { value: async () => battery });
    Object.defineProperty(navigator, "connection", { value: connection });

    let press: (records: readonly { readonly state: string }[]) => void = () => {};
    class PressureObserver {
      static readonly knownSources = ["cpu"];
      constructor(tell: typeof press) {
        press = tell;
      }
      async observe(): Promise<void> {}
    }
    Object.assign(globalThis, { PressureObserver });
    let hasFocus = true;
    document.hasFocus = () => hasFocus;
    let visibility: DocumentVisibilityState = "visible";
    Object.defineProperty(document, "visibilityState", { get: () => visibility });

    let agent: Worker | undefined;
    class ObservedWorker extends Worker {
      constructor(...options: ConstructorParameters<typeof Worker>) {
        super(...options);
        agent = this;
      }
      override addEventListener(type: string, listener: EventListenerOrEventListenerObject): void {
        super.addEventListener(type, (event) => {
          if (event.isTrusted && (event as MessageEvent).data?.kind === "pace")
            device.measured += 1;
          else if (typeof listener === "function") listener.call(this, event);
        });
      }
    }
    Object.assign(globalThis, { Worker: ObservedWorker });

    const realNow = performance.now.bind(performance);
    let laterMs = 0;
    performance.now = () => realNow() + laterMs;
    const RealDate = Date;
    const dayMs = 86_400_000;
    let offsetMs = dayMs / 2 - (RealDate.now() % dayMs);
    globalThis.Date = class extends RealDate {
      constructor(...args: []) {
        if (args.length > 0) super(...args);
        else super(RealDate.now() + offsetMs);
      }
    } as DateConstructor;

    const device: Device = {
      measured: 0,
      report: ({ charging, level, cellular, saveData }) => {
        if (charging !== undefined) battery.charging = charging;
        if (level !== undefined) battery.level = level;
        if (cellular !== undefined) connection.type = cellular ? "cellular" : "wifi";
        if (saveData !== undefined) connection.saveData = saveData;
        battery.dispatchEvent(new Event("chargingchange"));
        connection.dispatchEvent(new Event("change"));
      },
      press: (state) => press([{ state }]),
      focus: (has) => {
        hasFocus = has;
        dispatchEvent(new Event(has ? "focus" : "blur"));
      },
      show: (isVisible) => {
        visibility = isVisible ? "visible" : "hidden";
        document.dispatchEvent(new Event("visibilitychange"));
      },
      later: (seconds) => {
        laterMs += seconds * 1_000;
      },
      moveDate: (hours) => {
        offsetMs += hours * 3_600_000;
      },
      pace: (seconds, pace) => {
        for (let second = 0; second < seconds; second += 2) {
          laterMs += 2_000;
          agent?.dispatchEvent(new MessageEvent("message", { data: { kind: "pace", pace } }));
        }
      },
    };
    Object.assign(globalThis, { device });
  });
}

/** A call of a method of Device, with its arguments. */
export type DeviceCall = {
  [Name in keyof Device]: Device[Name] extends (...args: infer Args) => void
    ? readonly [Name, ...Args]
    : never;
}[keyof Device];

/** Makes the calls. */
export const act = (page: Page, ...calls: readonly DeviceCall[]): Promise<void> =>
  page.evaluate(
    (all) => {
      const { device } = globalThis as unknown as {
        device: Record<string, (...args: readonly unknown[]) => void>;
      };
      for (const [name, ...args] of all) device[name]?.(...args);
    },
    calls as readonly (readonly [string, ...unknown[]])[],
  );

/**
 * Makes the calls, and then `repeated` every tenth of a second, until the page's title is `title`. Returns the
 * milliseconds from the calls to the title, as the page sees them.
 */
export const untilTitle = (
  page: Page,
  title: string,
  calls: readonly DeviceCall[],
  repeated: readonly DeviceCall[] = [],
): Promise<number> =>
  page.evaluate(
    async ([wanted, first, again]) => {
      const { device } = globalThis as unknown as {
        device: Record<string, (...args: readonly unknown[]) => void>;
      };
      const make = (all: typeof first) => {
        for (const [name, ...args] of all) device[name]?.(...args);
      };
      const began = performance.timeOrigin + new Event("now").timeStamp;
      make(first);
      while (document.querySelector(".panel-title")?.textContent !== wanted) {
        await new Promise((resolve) => setTimeout(resolve, again.length > 0 ? 100 : 5));
        make(again);
      }
      return performance.timeOrigin + new Event("now").timeStamp - began;
    },
    [title, calls, repeated] as readonly [
      string,
      readonly (readonly [string, ...unknown[]])[],
      readonly (readonly [string, ...unknown[]])[],
    ],
  );
