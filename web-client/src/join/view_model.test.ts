import type { VolunteerSnapshot, VolunteerState } from "@hyperflock/worker-runtime/page";
import { describe, expect, it } from "vitest";
import { failureCodes } from "../i18n/dictionary.ts";
import { en } from "../i18n/en.ts";
import { Formatter } from "../i18n/format.ts";
import { kStoryNowMs, kTrial, type Story, stories } from "../stories/states.ts";
import type { ProjectLoad } from "./project_api.ts";
import { contributionView, needsClock, type PanelView, panelView } from "./view_model.ts";

const format = new Formatter("en");
const ready = stories.idle.load;

function snapshot(state: VolunteerState, awake = true): VolunteerSnapshot {
  return { state, contribution: { trials: 0, seconds: 0 }, project: null, awake };
}

function view(
  state: VolunteerState,
  rest: { load?: ProjectLoad; awake?: boolean } = {},
): PanelView {
  return panelView({
    project: rest.load ?? ready,
    snapshot: snapshot(state, rest.awake),
    nowMs: kStoryNowMs,
    words: en,
    format,
  });
}

describe("before the tap", () => {
  it("shows the costs and one Start button", () => {
    expect(view({ phase: "idle" })).toMatchObject({
      phase: "idle",
      showFacts: true,
      action: { kind: "start", label: "Start" },
      announcement: "",
    });
  });

  it("offers nothing to start while the project is unknown", () => {
    expect(view({ phase: "idle" }, { load: { kind: "loading" } }).action).toBeNull();
  });

  it("offers nothing to start with a bad code", () => {
    for (const problem of ["no_code", "bad_code"] as const) {
      const shown = view({ phase: "idle" }, { load: { kind: "problem", problem } });
      expect(shown).toMatchObject({ phase: "project_problem", tone: "problem", action: null });
      expect(shown.title).toBe(en.projectProblems[problem].title);
    }
  });

  it("offers another try where it may help", () => {
    for (const problem of ["rate_limited", "unreachable", "server"] as const) {
      expect(view({ phase: "idle" }, { load: { kind: "problem", problem } }).action).toEqual({
        kind: "reload_project",
        label: "Try again",
      });
    }
  });

  it("works without a volunteer, which needs a code", () => {
    const shown = panelView({
      project: { kind: "problem", problem: "no_code" },
      snapshot: null,
      nowMs: 0,
      words: en,
      format,
    });
    expect(shown.phase).toBe("project_problem");
  });

  it("says that a browser cannot compute even when the project did not load", () => {
    const load = { kind: "problem", problem: "unreachable" } as const;
    expect(view({ phase: "unsupported", reason: "not_isolated" }, { load })).toMatchObject({
      phase: "unsupported",
      action: null,
      offerLink: true,
    });
  });

  it("does not offer to copy an http link, which would fail again", () => {
    expect(view({ phase: "unsupported", reason: "insecure_context" }).offerLink).toBe(false);
  });
});

describe("after the tap", () => {
  it("offers Stop in every state that may compute", () => {
    const running: readonly Story[] = [
      stories.joining,
      stories.connecting,
      stories.retrying,
      stories.no_work,
      stories.loading,
      stories.computing,
      stories.paused,
    ];
    for (const { state } of running) {
      expect(view(state).action, state.phase).toEqual({ kind: "stop", label: "Stop" });
    }
  });

  it("offers Start again in every state that ended", () => {
    for (const { state } of [stories.stopped, stories.replaced, stories.failed_other]) {
      expect(view(state).action?.kind, state.phase).toBe("start");
    }
  });

  it("counts down to the next try", () => {
    const shown = view({ phase: "connecting", attempt: 3, retryAt: kStoryNowMs + 11_200 });
    expect(shown.text).toBe("Next try in 12 sec. You need not do anything.");
    expect(shown.announcement).toBe("No connection to the server");
  });

  it("says that it tries now once the time has come", () => {
    for (const retryAt of [kStoryNowMs - 1, kStoryNowMs, null]) {
      expect(view({ phase: "connecting", attempt: 3, retryAt }).text).toBe(
        en.states.retryingNow.text,
      );
    }
  });

  it("shows bytes and their share while it loads, and no share of an unknown whole", () => {
    expect(view(stories.loading.state).progress).toEqual({
      fraction: 4_310_000 / 9_870_000,
      text: "4.3 MB of 9.9 MB",
    });
    expect(view(stories.loading_unknown.state).progress).toEqual({
      fraction: null,
      text: "0.0 MB",
    });
  });

  it("never shows more than the whole", () => {
    const state = { phase: "loading", loadedBytes: 12, totalBytes: 10, trial: kTrial } as const;
    expect(view(state).progress?.fraction).toBe(1);
  });

  it("shows the trial, counted from one", () => {
    expect(view(stories.computing.state).trial).toMatchObject({
      study: "mnist-grid",
      owner: "for Aoki Lab",
      counter: "Trial 17 of 64",
      params: [
        { name: "channels1", value: "16" },
        { name: "channels2", value: "64" },
        { name: "channels3", value: "4" },
      ],
      elapsed: "2 min 12 sec",
    });
  });

  it("announces a trial without anything that ticks", () => {
    const early = view(stories.computing.state).announcement;
    const later = view({
      phase: "computing",
      trial: { ...kTrial, startedAt: kTrial.startedAt - 5_000, points: [[1, 1]] },
    }).announcement;
    expect(later).toBe(early);
    expect(early).toBe("Computing. Trial 17 of 64, mnist-grid");
  });

  it("asks to keep the screen on where the browser cannot", () => {
    expect(view(stories.computing.state, { awake: false }).note).toBe(en.states.keepScreenOn);
    expect(view(stories.computing.state, { awake: true }).note).toBe(en.states.screenKeptOn);
  });

  it("has an own sentence for each known failure and shows the message of any other", () => {
    for (const code of failureCodes) {
      expect(view({ phase: "failed", code, message: "raw" }).text).toBe(en.states.failures[code]);
    }
    expect(view({ phase: "failed", code: "odd", message: "Raw sentence." })).toMatchObject({
      text: "Raw sentence.",
      note: "Code: odd",
    });
    expect(view({ phase: "failed", code: "toString", message: "Raw." }).text).toBe("Raw.");
  });
});

describe("contributionView", () => {
  it("is empty until there is something to thank for", () => {
    expect(contributionView(undefined, format)).toBeNull();
    expect(contributionView({ trials: 0, seconds: 0 }, format)).toBeNull();
  });

  it("gives trials and time", () => {
    expect(contributionView({ trials: 12, seconds: 1490 }, format)).toEqual({
      trials: "12",
      time: "24 min 50 sec",
    });
  });
});

describe("needsClock", () => {
  it("is true only while seconds are shown", () => {
    const ticking = Object.entries(stories)
      .filter(([, { state }]) => needsClock(state))
      .map(([name]) => name);
    expect(ticking).toEqual([
      "retrying",
      "computing",
      "computing_first",
      "computing_one",
      "computing_awkward",
    ]);
  });
});
