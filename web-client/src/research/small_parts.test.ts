import { describe, expect, it } from "vitest";
import { Formatter } from "../i18n/format.ts";
import { studyRow } from "../stories/research_states.ts";
import { ConsoleApi } from "./api.ts";
import { hashOf, routeOf } from "./model/route.ts";
import { curvesOf, studyOf, type TrialRow, trialOf } from "./model/rows.ts";
import { noTrials, withRows } from "./model/study_data.ts";
import { visibleText } from "./model/visible_text.ts";
import { forgetToken, keepToken, keptToken } from "./session.ts";
import { rangeText } from "./view_model.ts";
import { en } from "./words/en.ts";
import { ja } from "./words/ja.ts";

describe("route", () => {
  it("is the same after a way there and back", () => {
    for (const hash of [
      "#/",
      "#/operate",
      "#/studies/3",
      "#/studies/3/front",
      "#/studies/3/trials/0",
    ]) {
      expect(hashOf(routeOf(hash))).toBe(hash);
    }
  });

  it("is the list of studies for anything else", () => {
    for (const hash of [
      "",
      "#",
      "#/studies/x",
      "#/studies/-1",
      "#/studies/1/odd",
      "#/studies/1/overviews",
      "#/studies/1/trials/",
      "#hfr_x",
    ]) {
      expect(routeOf(hash)).toEqual({ page: "studies" });
    }
  });
});

describe("session", () => {
  it("works where storage is forbidden", () => {
    const forbidden = () => {
      throw new Error("SecurityError");
    };
    const store = { getItem: forbidden, setItem: forbidden, removeItem: forbidden };
    expect(keptToken(store)).toBeNull();
    expect(() => keepToken(store, "hfr_1")).not.toThrow();
    expect(() => forgetToken(store)).not.toThrow();
  });
});

describe("visibleText", () => {
  it("shows what would turn, hide or control text, and keeps lines and letters", () => {
    expect(visibleText("a\u202eb\u200bc\u0007d\u2066")).toBe("a\ufffdb\ufffdc\ufffdd\ufffd");
    expect(visibleText("e\u061cf\u00adg\u2028h\u{E0041}")).toBe("e\ufffdf\ufffdg\ufffdh\ufffd");
    expect(visibleText("one\r\n\ttwo é 数 🐦")).toBe("one\n\ttwo é 数 🐦");
  });
});

const ROW = {
  ...{ study: 3, trial: 1, state: "complete", params: "{}", seed: 1, values: [1], attempts: 1 },
  ...{ started_at: 1, finished_at: 2, run_ms: 1, load_ms: 0, seq: 1 },
};

describe("rows", () => {
  it.each([
    ["a state that is none", { state: "odd" }],
    ["a value that is no number", { values: ["1"] }],
    ["a missing field", { seq: undefined }],
    ["a device without its class", { device: { device: "d", engine: "e", backend: "b" } }],
  ])("are refused for %s", (_, change) => {
    expect(() => trialOf({ ...ROW, ...change })).toThrow();
    expect(trialOf(ROW).trial).toBe(1);
  });
});

describe("withRows", () => {
  const row = (trial: number, seq: number): TrialRow => trialOf({ ...ROW, trial, seq });

  it("says when the page's limit is reached, and still renews what it has", () => {
    const some = withRows(noTrials(1), [row(0, 1), row(1, 2)], 2, 2);
    expect(some).toMatchObject({ cursor: 2, full: false });
    const more = withRows(some, [row(2, 3), row(0, 4)], 4, 2);
    expect(more).toMatchObject({ cursor: 4, full: true });
    expect(more.trials.map(({ trial, seq }) => [trial, seq])).toEqual([
      [0, 4],
      [1, 2],
    ]);
  });
});

describe("ConsoleApi", () => {
  function api(answer: () => Response | Promise<Response>) {
    const asked: [string, RequestInit][] = [];
    const made = new ConsoleApi("hfr_secret", async (path, init) => {
      asked.push([path, init]);
      return answer();
    });
    return { made, asked };
  }

  it("sends the token in the header alone", async () => {
    const { made, asked } = api(() => Response.json({ trials: [ROW], cursor: 1 }));
    expect((await made.trials(3, 7)).cursor).toBe(1);
    const [path, init] = asked[0] ?? ["", {}];
    expect(path).toBe("/api/studies/3/trials?after=7&limit=2000");
    expect(init.headers).toEqual({ Authorization: "Bearer hfr_secret" });
    expect(init).toMatchObject({ method: "GET", credentials: "omit", cache: "no-store" });
  });

  it("keeps the id of a refused request, if it is one", async () => {
    const id = "4f2a6f0de1c04b3f8d1f3c5a7be90142";
    for (const [given, kept] of [
      [id, id],
      ["<b>", ""],
      [7, ""],
      [undefined, ""],
    ]) {
      const error = { code: "unknown_study", message: "None.", request_id: given };
      const { made } = api(() => Response.json({ error }, { status: 404 }));
      await expect(made.study(3)).rejects.toMatchObject({ requestId: kept });
    }
  });

  it("deletes by the study's own address, and sends no body", async () => {
    const { made, asked } = api(() =>
      Response.json({ study: 3, trials: 1, artifacts: 0, bytes: 7 }),
    );
    await made.remove(3);
    expect(asked[0]).toMatchObject(["/api/studies/3", { method: "DELETE" }]);
    expect(asked[0]?.[1].body).toBeUndefined();
  });

  it.each([
    [
      "the server's code",
      () => Response.json({ error: { code: "unknown_study", message: "No." } }, { status: 404 }),
      "unknown_study",
    ],
    ["an answer that is no JSON", () => new Response("<html>", { status: 502 }), "bad_answer"],
    ["rows of another shape", () => Response.json({ trials: [{}], cursor: 1 }), "bad_answer"],
    [
      "no connection",
      () => {
        throw new TypeError("fetch failed");
      },
      "unreachable",
    ],
  ])("raises %s", async (_, answer, code) => {
    await expect(api(answer).made.trials(3, 0)).rejects.toMatchObject({ code });
  });
});

const english = new Formatter("en");

function rangeOf(value_range: unknown) {
  return rangeText(studyOf(studyRow(7, { value_range })), en, english);
}

describe("R73: the range of values", () => {
  it("is not mentioned without a range", () => {
    expect(rangeText(studyOf(studyRow(7)), en, english)).toBeNull();
  });

  it("names the limits that the study states", () => {
    expect(rangeOf([{ low: 0, high: 1 }])).toContain("values: 0 to 1.");
    expect(rangeOf([{ low: -0.5 }])).toContain(`at least ${english.value(-0.5)}.`);
    expect(rangeOf([{ high: 0 }])).toContain("at most 0.");
  });

  it("names one range for each direction", () => {
    expect(rangeOf([{ low: 0, high: 1 }, {}])).toContain("0 to 1 / any.");
    const study = studyOf(studyRow(7, { value_range: [{ low: 0 }] }));
    expect(rangeText(study, ja, new Formatter("ja"))).toContain("0 以上");
  });
});

describe("curvesOf", () => {
  const row = (trial: number, points?: readonly (readonly [number, number])[]) => ({
    ...{ study: 1, trial, state: "complete", params: "{}", seed: 1, values: [1], attempts: 1 },
    ...{ started_at: 1, finished_at: 2, run_ms: 1, load_ms: 0, seq: 10 + trial },
    ...(points === undefined ? {} : { points }),
  });

  it("reads the rows that have values, and goes on after the last of them", () => {
    const whole = curvesOf({ trials: [row(0, [[1, 0.5]]), row(1, [])], cursor: 11 });
    expect(whole.trials.map(({ trial, series }) => [trial, series[0]?.points.length])).toEqual([
      ...[
        [0, 1],
        [1, 0],
      ],
    ]);
    expect(whole.cursor).toBe(11);
    const cut = curvesOf({ trials: [row(0, [[1, 0.5]]), row(1), row(2)], cursor: 12, more: false });
    expect([cut.trials.length, cut.cursor]).toEqual([1, 10]);
  });
});
