import { describe, expect, it } from "vitest";
import { trial } from "../../trials/trial.fixture.ts";
import { normalMass } from "./normal.ts";
import { LANE_WIDTH, timelineOf, timeTicks, trialAt } from "./timeline.ts";

const device = (id: string) =>
  ({ device: id, class: "phone", engine: "", backend: "cpu", adapter: "" }) as const;
const at = (number: number, id: string, startedAt: number, finishedAt: number) =>
  trial(number, { device: device(id), startedAt, finishedAt });

describe("timelineOf", () => {
  it("has a lane for each device, those that began first above", () => {
    const timeline = timelineOf([
      at(2, "b", 1_600, 1_700),
      at(0, "b", 1_500, 1_600),
      at(1, "a", 1_000, 2_000),
    ]);
    expect([timeline?.from, timeline?.to]).toEqual([1_000, 2_000]);
    expect(timeline?.lanes.map((lane) => [lane.device, lane.rows.map((row) => row.trial)])).toEqual(
      [
        ["a", [1]],
        ["b", [0, 2]],
      ],
    );
    expect(timeline?.lanes[0]?.paths.complete).toBe(`M0 1h${LANE_WIDTH}v12h-${LANE_WIDTH}z`);
    expect(timeline?.lanes[1]?.paths.complete).toMatch(/^M500 1h100v12h-100zM600 1h100/);
  });

  it("leaves out trials that never began, and times that a device has mixed up", () => {
    expect(timelineOf([])).toBeNull();
    expect(timelineOf([at(0, "a", 0, 5), at(1, "a", 9, 5)])).toBeNull();
    expect(timelineOf([at(0, "a", 5, 5)])?.lanes[0]?.paths.complete).toBe("M0 1h2v12h-2z");
  });

  it("draws bars that look the same once", () => {
    const rows = Array.from({ length: 50_000 }, (_, i) => at(i, "a", 1 + i, 2 + i));
    const path = timelineOf(rows)?.lanes[0]?.paths.complete ?? "";
    expect(path.split("z").length).toBeLessThan(3 * LANE_WIDTH);
  });

  it("keeps infeasible and failed trials apart from complete ones", () => {
    const rows = [
      { ...at(0, "a", 10, 20), isInfeasible: true },
      { ...at(1, "a", 20, 30), state: "failed" as const },
    ];
    const paths = timelineOf(rows)?.lanes[0]?.paths;
    expect([paths?.complete, paths?.infeasible !== "", paths?.failed !== ""]).toEqual([
      ...["", true, true],
    ]);
  });
});

describe("trialAt", () => {
  it("is the trial at a time, or the nearest one", () => {
    const lane = timelineOf([at(0, "a", 10, 20), at(1, "a", 40, 50)])?.lanes[0];
    if (lane === undefined) throw new Error("no lane");
    expect([15, 24, 36, 99].map((time) => trialAt(lane, time)?.trial)).toEqual([0, 0, 1, 1]);
  });
});

describe("timeTicks", () => {
  it("are whole seconds, minutes, hours or days", () => {
    expect(timeTicks(100_000)).toEqual([0, 50_000, 100_000]);
    expect(timeTicks(51 * 60_000)).toEqual([0, 20 * 60_000, 40 * 60_000]);
    expect(timeTicks(0)).toEqual([0]);
    expect(timeTicks(8 * 86_400_000).every((tick) => tick % 86_400_000 === 0)).toBe(true);
  });
});

describe("normalMass", () => {
  it.each([
    [-1, 1, 0.6826894921370859],
    [0, 40, 0.5],
    [2, 3, 0.021400233916549122],
    [-3, -2, 0.021400233916549122],
    [5, 6, 2.856649842341569e-7],
    [10, 11, 7.619661958203143e-24],
    [3.53, 3.54, 7.716317473300855e-6],
  ])("between %d and %d standard deviations is %d", (low, high, want) => {
    expect(Math.abs(normalMass(low, high) / want - 1)).toBeLessThan(1e-10);
  });
});
