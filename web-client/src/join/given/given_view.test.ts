import { describe, expect, it } from "vitest";
import { en } from "../../i18n/en.ts";
import { Formatter } from "../../i18n/format.ts";
import type { Given, Span } from "./given_api.ts";
import { givenInAll, givenView } from "./given_view.ts";

const format = new Formatter("en");
const HOUR_MS = 3_600_000;
const SINCE = Date.UTC(2026, 10, 28);
const span = (trials: number, improved = 0): Span => ({ trials, ms: trials * HOUR_MS, improved });

function given(name: string, [today, week, all]: readonly [number, number, number]): Given {
  const project = { name, today: span(today), week: span(week), all: span(all, 1) };
  return { todaySince: SINCE, projects: [project] };
}

const view = (...devices: Given[]) => givenView(devices, SINCE + HOUR_MS, en.given, format);

describe("givenView", () => {
  it("is empty until something was accepted", () => {
    expect(view()).toBeNull();
    expect(view({ todaySince: SINCE, projects: [] })).toBeNull();
  });

  it("has a row for each span of time", () => {
    const shown = view(given("Digits", [1, 2, 1_234]));
    expect(shown?.spans.map(({ trials }) => trials)).toEqual(["1", "2", "1,234"]);
    expect(shown?.spans[0]?.label).toContain(format.clock(SINCE));
    expect(shown?.spans[2]).toMatchObject({ time: "1,234 hr", improved: "1" });
    expect(shown?.projects).toEqual([]);
  });

  it("adds up the devices of this browser, and names their projects", () => {
    const shown = view(given("Digits", [1, 2, 3]), given("Waves", [4, 5, 6]));
    expect(shown?.spans.map(({ trials }) => trials)).toEqual(["5", "7", "9"]);
    expect(shown?.projects.map(({ label, trials }) => [label, trials])).toEqual([
      ["Digits", "3"],
      ["Waves", "6"],
    ]);
  });

  it("counts the results of two devices for one project together", () => {
    expect(view(given("Digits", [1, 2, 3]), given("Digits", [1, 1, 1]))?.projects).toEqual([]);
  });

  it("shows no results of yesterday as those of today, if one device was asked before midnight", () => {
    const before = { ...given("Digits", [4, 4, 4]), todaySince: SINCE - 24 * HOUR_MS };
    expect(view(before, given("Waves", [1, 1, 1]))?.spans.map(({ trials }) => trials)).toEqual([
      "1",
      "5",
      "5",
    ]);
  });

  it("says that the server's day began yesterday, where it did", () => {
    const [here, next] = [SINCE, SINCE + 24 * HOUR_MS];
    const label = (now: number) =>
      givenView([given("Digits", [1, 1, 1])], now, en.given, format)?.spans[0]?.label;
    expect(label(here)).toBe(`Today, since ${format.clock(SINCE)}`);
    expect(label(next)).toBe(`Since yesterday, ${format.clock(SINCE)}`);
  });
});

it("givenInAll adds up a device's projects", () => {
  const [one] = given("Digits", [1, 2, 3]).projects;
  const projects = one === undefined ? [] : [one, { ...one, name: "Waves" }];
  expect(givenInAll({ todaySince: SINCE, projects })).toEqual({ ...span(6), improved: 2 });
});
