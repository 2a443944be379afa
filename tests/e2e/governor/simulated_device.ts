// A device whose battery, connection, pressure, pace, clock and visibility a test sets, in a real Chromium. What the
// page reads of the browser is replaced before its first script.

import type { BrowserContext, Page } from "playwright-core";

/** How long a busy machine may need. */
const PATIENCE_MS = 300_000;

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
  /** Stops the page's monotonic clock, its ticks of one second, and the timers that begin from now on. */
  hold(): void;
  /** Lets one second pass while the clock is stopped: ticks and timers that are due run. */
  second(): void;
  /** Lets the clock run again. */
  release(): void;
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
    let heldAt: number | null = null;
    performance.now = () => heldAt ?? realNow() + laterMs;
    const ticks = new Map<ReturnType<typeof setInterval>, () => void>();
    const realSetInterval = setInterval;
    const realClearInterval = clearInterval;
    const observedSetInterval = (run: () => void, ms?: number) => {
      const id = realSetInterval(() => {
        if (heldAt === null || ms !== 1_000) run();
      }, ms);
      if (ms === 1_000) ticks.set(id, run);
      return id;
    };
    const observedClearInterval = (id: ReturnType<typeof setInterval>) => {
      ticks.delete(id);
      realClearInterval(id);
    };
    const realSetTimeout = setTimeout;
    const realClearTimeout = clearTimeout;
    const waiting = new Map<number, { readonly due: number; readonly run: () => void }>();
    let timers = 1_000_000_000; // no number that the browser gives
    const observedSetTimeout = (run: () => void, ms = 0) => {
      if (heldAt === null || ms <= 0) return realSetTimeout(run, ms);
      timers += 1;
      waiting.set(timers, { due: heldAt + ms, run });
      return timers;
    };
    const observedClearTimeout = (id: number) => {
      if (!waiting.delete(id)) realClearTimeout(id);
    };
    /** Runs the timers that are due; with `all`, leaves the others to the browser. */
    const runTimers = (all: boolean) => {
      for (const [id, { due, run }] of waiting) {
        const restMs = due - performance.now();
        if (restMs > 0 && !all) continue;
        waiting.delete(id);
        realSetTimeout(run, Math.max(restMs, 0));
      }
    };
    Object.assign(globalThis, {
      setInterval: observedSetInterval,
      clearInterval: observedClearInterval,
      setTimeout: observedSetTimeout,
      clearTimeout: observedClearTimeout,
    });
    const pass = (ms: number) => {
      if (heldAt === null) laterMs += ms;
      else heldAt += ms;
    };
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
      later: (seconds) => pass(seconds * 1_000),
      hold: () => {
        heldAt ??= performance.now();
      },
      second: () => {
        pass(1_000);
        for (const tick of [...ticks.values()]) tick();
        runTimers(false);
      },
      release: () => {
        if (heldAt !== null) laterMs = heldAt - realNow();
        heldAt = null;
        runTimers(true);
      },
      moveDate: (hours) => {
        offsetMs += hours * 3_600_000;
      },
      pace: (seconds, pace) => {
        for (let second = 0; second < seconds; second += 2) {
          pass(2_000);
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
 * Makes the calls, lets one second of the page's clock pass, and waits until the page's title is `title`. No more time
 * passes on that clock meanwhile. So a page that needs more than a second never gets there, and a busy machine changes
 * nothing.
 */
export async function titleInASecond(
  page: Page,
  title: string,
  calls: readonly DeviceCall[],
): Promise<void> {
  await act(page, ["hold"], ...calls, ["second"]);
  const exact = page.getByText(title, { exact: true });
  await page.locator(".panel-title").and(exact).waitFor({ timeout: PATIENCE_MS });
  await act(page, ["release"]);
}

/** Makes the calls, and then `repeated` every tenth of a second, until the page's title is `title`. */
export const untilTitle = (
  page: Page,
  title: string,
  calls: readonly DeviceCall[],
  repeated: readonly DeviceCall[] = [],
): Promise<void> =>
  page.evaluate(
    async ([wanted, first, again]) => {
      const { device } = globalThis as unknown as {
        device: Record<string, (...args: readonly unknown[]) => void>;
      };
      const make = (all: typeof first) => {
        for (const [name, ...args] of all) device[name]?.(...args);
      };
      make(first);
      while (document.querySelector(".panel-title")?.textContent !== wanted) {
        // A clock that is held has no timers.
        await new Promise<unknown>((resolve) =>
          again.length > 0 ? setTimeout(resolve, 100) : requestAnimationFrame(resolve),
        );
        make(again);
      }
    },
    [title, calls, repeated] as readonly [
      string,
      readonly (readonly [string, ...unknown[]])[],
      readonly (readonly [string, ...unknown[]])[],
    ],
  );
