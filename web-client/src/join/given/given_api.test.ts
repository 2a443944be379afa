import { describe, expect, it } from "vitest";
import { fetchGiven, parseGiven } from "./given_api.ts";

const SPAN = { trials: 2, ms: 1_500, improved: 1 };
const BODY = {
  today_since: 86_400_000,
  projects: [{ name: "Digits", today: SPAN, week: SPAN, all: SPAN }],
};

describe("fetchGiven", () => {
  it("identifies the device by its header, and sends nothing else", async () => {
    const asked: [string, RequestInit][] = [];
    const given = await fetchGiven("Device a:b", async (path, init) => {
      asked.push([path, init]);
      return new Response(JSON.stringify(BODY));
    });
    expect(given).toEqual({
      todaySince: 86_400_000,
      projects: [{ name: "Digits", today: SPAN, week: SPAN, all: SPAN }],
    });
    expect(asked[0]?.[0]).toBe("/api/device/contribution");
    expect(asked[0]?.[1]).toMatchObject({
      headers: { Authorization: "Device a:b" },
      credentials: "omit",
      cache: "no-store",
    });
    expect(asked[0]?.[1].body).toBeUndefined();
  });

  it("knows nothing without a connection or an answer", async () => {
    const offline = async () => {
      throw new TypeError("Failed to fetch");
    };
    expect(await fetchGiven("Device a:b", offline)).toBeNull();
    const answers = [
      new Response("{}", { status: 401 }),
      new Response("<html>"),
      new Response("{}"),
    ];
    for (const answer of answers) {
      expect(await fetchGiven("Device a:b", async () => answer)).toBeNull();
    }
  });
});

describe("parseGiven", () => {
  it.each([
    null,
    [],
    {},
    { ...BODY, today_since: -1 },
    { ...BODY, projects: "none" },
    { ...BODY, projects: [null] },
    { ...BODY, projects: [{ ...BODY.projects[0], name: 7 }] },
    { ...BODY, projects: [{ ...BODY.projects[0], week: undefined }] },
    { ...BODY, projects: [{ ...BODY.projects[0], all: { ...SPAN, trials: 0.5 } }] },
    { ...BODY, projects: [{ ...BODY.projects[0], all: { ...SPAN, ms: "1" } }] },
  ])("refuses %j", (body) => {
    expect(parseGiven(body)).toBeNull();
  });

  it("takes a device that gave nothing", () => {
    expect(parseGiven({ today_since: 0, projects: [] })).toEqual({ todaySince: 0, projects: [] });
  });
});
