// Tests what trial code can learn about the device. Each test has a realm of its own, in a time zone far from UTC.

import vm from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hideDevice, type Surroundings } from "./surroundings.ts";

const zone = process.env.TZ;
beforeAll(() => {
  process.env.TZ = "Asia/Kathmandu";
});
afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

/** Returns a function that evaluates a script in a realm in which the device is hidden. */
function hidden(now: () => number = () => 0): (script: string) => unknown {
  class Performance {
    now = now;
    get memory() {
      return { jsHeapSizeLimit: 4e9 };
    }
    mark() {
      return { startTime: 1.234567 };
    }
  }
  const navigator = { language: "ne-NP", languages: ["ne-NP"], hardwareConcurrency: 24 };
  const scope = vm.createContext({ performance: new Performance(), navigator });
  const run = (script: string): unknown => vm.runInContext(script, scope);
  hideDevice(run("globalThis") as Surroundings, navigator);
  return run;
}

test("Local time is UTC, however it is asked for.", () => {
  const run = hidden();
  expect(new Date(0).getTimezoneOffset()).toBe(-330); // this realm is not in UTC
  for (const [script, value] of [
    ["new Date(0).getTimezoneOffset()", 0],
    ["new Date(0).getHours() * 60 + new Date(0).getMinutes()", 0],
    ["new Date(2026, 0, 2, 3, 4, 5, 6).toISOString()", "2026-01-02T03:04:05.006Z"],
    ["new Date(2026, 6).getTime()", Date.UTC(2026, 6)],
    ["new Date('2026-01-02T03:04:05').toISOString()", "2026-01-02T03:04:05.000Z"],
    ["new Date('Jan 2, 2026 03:04').toISOString()", "2026-01-02T03:04:00.000Z"],
    ["new Date('2026-01-02').toISOString()", "2026-01-02T00:00:00.000Z"],
    ["new Date('2026-01-02T03:04:05+02:00').toISOString()", "2026-01-02T01:04:05.000Z"],
    ["new Date('Fri, 02 Jan 2026 03:04:05 GMT').toISOString()", "2026-01-02T03:04:05.000Z"],
    ["Date.parse('2026-01-02T03:04')", Date.UTC(2026, 0, 2, 3, 4)],
    ["new Date(new Date(7)).getTime()", 7],
    ["new Date(0).toString()", "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"],
    ["'' + new Date(0)", "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"],
    [
      "new Date(0).toLocaleString('ne-NP')",
      "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)",
    ],
    [
      "new Date(0).toLocaleDateString() + new Date(0).toTimeString()",
      "Thu Jan 01 197000:00:00 GMT+0000 (Coordinated Universal Time)",
    ],
    ["/ GMT\\+0000 \\(/.test(Date())", true],
    ["new (new Date(0).constructor)(1970, 0).getTime()", 0],
    ["new Date(NaN).toString() + new Date(NaN).getTimezoneOffset()", "Invalid DateNaN"],
    [
      "(() => { const d = new Date(0); d.setHours(5); d.setYear(99); return d.toISOString() })()",
      "1999-01-01T05:00:00.000Z",
    ],
    ["new Date(0) instanceof Date && Date.prototype.constructor === Date", true],
    ["new (class extends Date {})(1970, 0, 1).getTime()", 0],
  ] as const) {
    expect(run(script), script).toBe(value);
  }
});

test("The clock has steps of a tenth of a millisecond, and does not go back.", () => {
  let ms = 0;
  const run = hidden(() => {
    ms += 0.007;
    return ms;
  });
  const times = Array.from({ length: 200 }, () => Number(run("performance.now()")));
  expect(new Set(times).size).toBeLessThanOrEqual(15);
  for (const [i, time] of times.entries()) {
    expect(Math.abs(time * 10 - Math.round(time * 10))).toBeLessThan(1e-6);
    if (i > 0) expect(time).toBeGreaterThanOrEqual(times[i - 1] ?? 0);
  }
  expect(run("Object.getPrototypeOf(performance).mark")).toBeUndefined();
  expect(run("performance.memory")).toBeUndefined();
  expect(run("delete performance.now")).toBe(false);
});

test("Languages and cores are the same on every device.", () => {
  const run = hidden();
  expect(run("JSON.stringify([navigator.languages, navigator.language])")).toBe(
    '[["en-US"],"en-US"]',
  );
  expect(run("navigator.hardwareConcurrency")).toBe(1);
  expect(run("(1234567.5).toLocaleString('de-DE') + 12345n.toLocaleString()")).toBe(
    "1234567.512345",
  );
  expect(run("'ä'.localeCompare('z') + 'i'.toLocaleUpperCase('tr')")).toBe("1I");
});
