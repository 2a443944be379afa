import { beforeEach, describe, expect, it } from "vitest";
import type { Battery, PausingRule, Used } from "../governor/governor.ts";
import { type Limits, NO_LIMITS } from "../governor/limits.ts";
import type { PressureState } from "../governor/pressure.ts";
import { GovernorHost, type Sensors, TICK_MS } from "./governor_host.ts";

/** A browser whose reports, clock and storage a test sets. */
class FakeBrowser implements Sensors {
  tellBattery: (battery: Battery | null) => void = () => {};
  tellConnection: (isMetered: boolean | null) => void = () => {};
  tellPressure: (state: PressureState | null) => void = () => {};
  ms = 0;
  at = new Date(2026, 10, 27, 12, 0, 0);
  used: Used | null = null;
  tick: (() => void) | null = null;
  stores = 0;

  watchBattery(tell: (battery: Battery | null) => void): void {
    this.tellBattery = tell;
  }
  watchConnection(tell: (isMetered: boolean | null) => void): void {
    this.tellConnection = tell;
  }
  watchPressure(tell: (state: PressureState | null) => void): void {
    this.tellPressure = tell;
  }
  now(): number {
    return this.ms;
  }
  date(): Date {
    return this.at;
  }
  every(ms: number, tick: () => void): () => void {
    expect(ms).toBe(TICK_MS);
    this.tick = tick;
    return () => {
      this.tick = null;
    };
  }
  readUsed(): Used | null {
    return this.used;
  }
  storeUsed(used: Used): void {
    this.used = used;
    this.stores += 1;
  }

  pass(seconds: number): void {
    for (let i = 0; i < seconds; i += 1) {
      this.ms += 1_000;
      this.at = new Date(this.at.getTime() + 1_000);
      this.tick?.();
    }
  }
}

let browser: FakeBrowser;
let host: GovernorHost;
let changes: (PausingRule | null)[];

beforeEach(() => {
  browser = new FakeBrowser();
  changes = [];
  host = new GovernorHost(browser, () => changes.push(host.rule));
});

const limit = (limits: Partial<Limits>) => host.setLimits({ ...NO_LIMITS, ...limits });

describe("the governor's host", () => {
  it("tells each change of the verdict once", () => {
    limit({ onlyCharging: true });
    browser.tellBattery({ level: 0.9, isCharging: false });
    browser.tellBattery({ level: 0.8, isCharging: false });
    browser.tellBattery({ level: 0.8, isCharging: true });
    limit({ onlyUnmetered: true });
    browser.tellConnection(true);
    limit({});
    expect(changes).toEqual(["not_charging", null, "metered", null]);
  });

  it("sees the end of the hours within a tick", () => {
    limit({ hours: { from: 9, until: 13 } });
    browser.at = new Date(2026, 10, 27, 12, 59, 58);
    host.start();
    browser.pass(1);
    expect(changes).toEqual([]);
    browser.pass(1);
    expect(changes).toEqual(["outside_hours"]);
    browser.at = new Date(2026, 10, 28, 8, 59, 59);
    browser.pass(1);
    expect(changes).toEqual(["outside_hours", null]);
  });

  it("counts the minutes of all visits of a day, and only those of computing", () => {
    browser.used = { day: "2026-11-27", ms: 14 * 60_000, bytes: 9 };
    limit({ minutesADay: 15 });
    host.start();
    browser.pass(120);
    host.setBusy(true);
    browser.pass(59);
    expect(changes).toEqual([]);
    browser.pass(1);
    expect(changes).toEqual(["minutes_used"]);
    host.setBusy(false);
    host.stop();
    expect(browser.used).toEqual({ day: "2026-11-27", ms: 15 * 60_000, bytes: 9 });
    expect(browser.tick).toBeNull();
  });

  it("stores the minutes now and then, and at the end", () => {
    host.start();
    host.setBusy(true);
    const before = browser.stores;
    browser.pass(25);
    expect(browser.stores - before).toBe(2);
    host.stop();
    expect(browser.used?.ms).toBe(25_000);
  });

  it("tells the beginning and the end of a cooling, and its cause", () => {
    const seen: unknown[] = [];
    const cool = new GovernorHost(browser, () => seen.push(cool.cooling));
    cool.start();
    browser.tellPressure("serious");
    browser.tellPressure("critical");
    browser.tellPressure("nominal");
    browser.pass(30);
    // 300 s at the full pace, and then 90 s at a quarter of it.
    for (let second = 0; second < 390; second += 2) {
      browser.pass(2);
      cool.setPace(second < 300 ? 1 : 0.25);
    }
    expect(seen).toEqual([
      { cause: "pressure", share: 0.5 },
      { cause: "pressure", share: 0.25 },
      { cause: "pressure", share: 0.5 },
      null,
      { cause: "heat", share: 0.5 },
    ]);
    browser.tellPressure("critical");
    expect(cool.cooling).toEqual({ cause: "pressure", share: 0.25 });
  });

  it("counts and stores the bytes of all visits of a day, and tells what is left", () => {
    browser.used = { day: "2026-11-27", ms: 0, bytes: 150e6 };
    limit({ dataADay: 200e6 });
    host.start();
    expect(host.dataLimits.dayLeft).toBe(50e6);
    changes.length = 0;
    host.addFetched(30e6);
    expect([changes, host.dataLimits.dayLeft]).toEqual([[null], 20e6]);
    browser.pass(1);
    expect(browser.used?.bytes).toBe(180e6);
    host.addFetched(30e6);
    expect(changes).toEqual([null, "data_used"]);
    browser.at = new Date(2026, 10, 28, 0, 0, 0);
    browser.pass(1);
    expect([host.rule, host.dataLimits.dayLeft]).toEqual([null, 200e6]);
  });

  it("reads the clock only between start and stop", () => {
    limit({ hours: { from: 20, until: 22 } });
    expect(browser.tick).toBeNull();
    host.setBusy(true);
    host.stop();
    expect([host.rule, browser.stores]).toEqual([null, 0]);
    host.start();
    expect(host.rule).toBe("outside_hours");
  });
});
