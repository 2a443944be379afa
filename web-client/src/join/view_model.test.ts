import { type Limits, NO_LIMITS } from "@hyperflock/worker-runtime/limits";
import type { VolunteerSnapshot, VolunteerState } from "@hyperflock/worker-runtime/page";
import { describe, expect, it } from "vitest";
import { failureCodes } from "../i18n/dictionary.ts";
import { en } from "../i18n/en.ts";
import { Formatter } from "../i18n/format.ts";
import { STORY_NOW_MS, type Story, stories, TRIAL } from "../stories/states.ts";
import type { InAppBrowser } from "./in_app.ts";
import type { ProjectLoad } from "./project_api.ts";
import { contributionView, needsClock, type PanelView, panelView } from "./view_model.ts";

const format = new Formatter("en");
const ready = stories.idle.load;

function snapshot(state: VolunteerState, awake = true): VolunteerSnapshot {
  return {
    state,
    contribution: { trials: 0, seconds: 0 },
    project: null,
    awake,
    interrupted: null,
    finishing: false,
    cooling: null,
  };
}

function view(
  state: VolunteerState,
  rest: {
    load?: ProjectLoad;
    awake?: boolean;
    online?: boolean;
    finishing?: boolean;
    cooling?: VolunteerSnapshot["cooling"];
    interrupted?: VolunteerSnapshot["interrupted"];
    inApp?: InAppBrowser;
    known?: "joined";
    limits?: Limits;
  } = {},
): PanelView {
  return panelView({
    download: null,
    project: rest.load ?? ready,
    snapshot: {
      ...snapshot(state, rest.awake),
      finishing: rest.finishing ?? false,
      cooling: rest.cooling ?? null,
      interrupted: rest.interrupted ?? null,
    },
    nowMs: STORY_NOW_MS,
    online: rest.online ?? true,
    inApp: rest.inApp ?? null,
    known: rest.known ?? "unknown",
    limits: rest.limits ?? NO_LIMITS,
    words: en,
    format,
  });
}

describe("a pause by a limit", () => {
  it("says why, when it ends, and offers Stop", () => {
    const limits = {
      ...NO_LIMITS,
      batteryFloor: 30,
      hours: { from: 22, until: 7 },
      minutesADay: 60,
    };
    const paused = (reason: "not_charging" | "battery_low" | "outside_hours" | "minutes_used") =>
      view({ phase: "paused", reason }, { limits });
    expect(paused("not_charging")).toMatchObject({
      title: "Paused: not charging",
      tone: "paused",
      action: { kind: "stop" },
      more: [],
    });
    expect(paused("battery_low").text).toContain("below 30%");
    expect(paused("outside_hours").title).toBe("Paused until 22:00");
    expect(paused("minutes_used").text).toContain("1 hr today");
  });
});

describe("a study that was not taken because of its data", () => {
  it("is named, with its size, the limit, and what would change it", () => {
    const limits = { ...NO_LIMITS, dataADay: 200e6, dataAStudy: 20e6 };
    const text = (rule: "study" | "day") => {
      const refused = { rule, bytes: 270e6, study: "digits" };
      return view({ phase: "waiting", reason: "no_matching_work", refused }, { limits }).text;
    };
    expect(text("study")).toContain("“digits” would fetch 270 MB, and you allow 20 MB");
    expect(text("day")).toContain("200 MB that you allow in one day. It starts by itself tomorrow");
  });
});

describe("a cooling", () => {
  it("says the cause and what trials get of all the time, also of a lent part", () => {
    const { state } = stories.computing;
    const limits = { ...NO_LIMITS, processorShare: 0.5 } as const;
    const heat = view(state, { cooling: { cause: "heat", share: 0.5 } });
    expect(heat).toMatchObject({ phase: "computing", title: "Cooling: 50% of the time" });
    expect(heat.text).toContain("become slow");
    expect(heat.announcement).toContain("Cooling");
    const pressure = view(state, { cooling: { cause: "pressure", share: 0.5 }, limits });
    expect(pressure.title).toBe("Cooling: 25% of the time");
    expect(pressure.text).toContain("heavy load");
  });

  it("lets the sentence about the connection go first, and needs a trial", () => {
    const cooling = { cause: "heat", share: 0.25 } as const;
    const shown = view(stories.computing.state, { cooling, online: false });
    expect([shown.title, shown.text]).toEqual([
      "Cooling: 25% of the time",
      en.states.computingOffline,
    ]);
    expect(view(stories.no_work.state, { cooling }).title).toBe(en.states.waiting.title);
  });
});

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

  it("welcomes a device back with one Start button, also after its link has ended", () => {
    const bad = { kind: "problem", problem: "bad_code" } as const;
    for (const [load, text] of [
      [ready, en.memory.text],
      [bad, en.memory.linkEnded],
    ] as const) {
      expect(view({ phase: "idle" }, { load, known: "joined" })).toMatchObject({
        title: en.memory.heading,
        text,
        showFacts: false,
        action: { kind: "start" },
      });
    }
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
      download: null,
      project: { kind: "problem", problem: "no_code" },
      snapshot: null,
      nowMs: 0,
      online: true,
      inApp: null,
      known: "unknown",
      limits: NO_LIMITS,
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
      note: "Code: not_isolated",
    });
  });

  it("does not offer to copy an http link, which would fail again", () => {
    expect(view({ phase: "unsupported", reason: "insecure_context" }).offerLink).toBe(false);
  });
});

describe("inside an app", () => {
  const line = { app: "line", label: "LINE", system: "ios" } as const;

  it("tells the way out before the tap, and lets the volunteer try", () => {
    const shown = view({ phase: "idle" }, { inApp: line });
    expect(shown).toMatchObject({
      phase: "in_app",
      action: null,
      more: [{ kind: "stay" }],
      offerLink: true,
      inApp: line,
    });
    expect(shown.text).toContain("LINE");
    expect(shown.steps.join(" ")).toContain("Safari");
    expect(shown.announcement).toContain("Safari");
  });

  it("does not let the volunteer try what cannot work", () => {
    const shown = view({ phase: "unsupported", reason: "not_isolated" }, { inApp: line });
    expect(shown).toMatchObject({ phase: "in_app", more: [], offerLink: true });
    expect(shown.note).toBe("Code: not_isolated");
    expect(shown.text).toBe(en.unsupported.reasons.not_isolated);
  });

  it("says first what no other browser would mend", () => {
    const load = { kind: "problem", problem: "bad_code" } as const;
    expect(view({ phase: "idle" }, { load, inApp: line }).phase).toBe("project_problem");
    expect(view({ phase: "unsupported", reason: "insecure_context" }, { inApp: line }).phase).toBe(
      "unsupported",
    );
  });

  it("leaves alone what runs", () => {
    expect(view(stories.computing.state, { inApp: line }).phase).toBe("computing");
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

  it("offers to pause, and to finish first while a trial is here", () => {
    const kinds = (shown: PanelView) => shown.more.map(({ kind }) => kind);
    expect(kinds(view(stories.computing.state))).toEqual(["pause", "finish"]);
    expect(kinds(view(stories.loading.state))).toEqual(["pause", "finish"]);
    expect(kinds(view(stories.no_work.state))).toEqual(["pause"]);
    expect(kinds(view(stories.joining.state))).toEqual([]);
    expect(kinds(view(stories.paused.state))).toEqual([]);
  });

  it("resumes by a button what was paused by one, and can stop it", () => {
    const shown = view({ phase: "paused", reason: "by_choice" });
    expect(shown).toMatchObject({
      title: "Paused",
      action: { kind: "resume", label: "Resume" },
      more: [{ kind: "stop", label: "Stop" }],
    });
    expect(shown.text).toBe(en.states.pausedByChoice.text);
    expect(view(stories.paused.state).text).toBe(en.states.hidden.text);
  });

  it("says and announces that the trial is the last one", () => {
    const shown = view(stories.computing.state, { finishing: true });
    expect(shown.advice).toBe(en.states.finishing);
    expect(shown.announcement).toContain(en.states.finishing);
    expect(shown.more.find(({ kind }) => kind === "finish")?.pressed).toBe(true);
  });

  it("tells a device without a connection so, and that its trial goes on", () => {
    const lost = { phase: "connecting", attempt: 3, retryAt: STORY_NOW_MS + 11_200 } as const;
    expect(view(lost, { online: false })).toMatchObject({
      phase: "offline",
      title: "This device is offline",
      action: { kind: "stop" },
    });
    expect(view(stories.computing.state, { online: false })).toMatchObject({
      phase: "computing",
      text: en.states.computingOffline,
    });
  });

  it("offers Start again in every state that ended", () => {
    const ended = [stories.stopped, stories.finished, stories.replaced, stories.failed_other];
    for (const { state } of ended) {
      expect(view(state).action?.kind, state.phase).toBe("start");
    }
  });

  it("counts down to the next try", () => {
    const shown = view({ phase: "connecting", attempt: 3, retryAt: STORY_NOW_MS + 11_200 });
    expect(shown.text).toBe("Next try in 12 sec. You need not do anything.");
    expect(shown.announcement).toBe("No connection to the server");
  });

  it("says that it tries now once the time has come", () => {
    for (const retryAt of [STORY_NOW_MS - 1, STORY_NOW_MS, null]) {
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
    const state = { phase: "loading", loadedBytes: 12, totalBytes: 10, trial: TRIAL } as const;
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

  it("counts no trials where nobody knows how many there will be", () => {
    const trial = { ...TRIAL, total: null };
    expect(view({ phase: "computing", trial }).trial?.counter).toBe("Trial 17");
  });

  it("announces a trial without anything that ticks", () => {
    const early = view(stories.computing.state).announcement;
    const later = view({
      phase: "computing",
      trial: { ...TRIAL, startedAt: TRIAL.startedAt - 5_000, points: [[1, 1]] },
    }).announcement;
    expect(later).toBe(early);
    expect(early).toBe("Computing. Trial 17 of 64, mnist-grid");
  });

  it("asks to keep the screen on where the browser cannot", () => {
    expect(view(stories.computing.state, { awake: false }).note).toBe(en.states.keepScreenOn);
    expect(view(stories.computing.state, { awake: true }).note).toBe(en.states.screenKeptOn);
  });

  it("says how the browser ended the last visit, and when its trial has come back", () => {
    const { study, studyName, number } = TRIAL;
    const interrupted = { during: "trial", study, studyName, number } as const;
    expect(view({ phase: "idle" }).advice).toBeNull();
    const idle = view({ phase: "idle" }, { interrupted });
    expect(idle.advice).toBe(en.states.interruptedTrial("17", "mnist-grid"));
    expect(idle.action?.kind).toBe("start");
    expect(view({ phase: "idle" }, { interrupted: { during: "hidden" } }).advice).toBe(
      en.states.interruptedHidden,
    );
    expect(view(stories.computing.state, { interrupted }).advice).toBe(en.states.comesBack);
    const other = { ...interrupted, number: number + 1 };
    expect(view(stories.computing.state, { interrupted: other }).advice).toBeNull();
  });

  it("says that the operator stopped a study, while it waits and during the next trial", () => {
    const told = en.states.stoppedByOperator("mnist-grid");
    const stoppedStudy = "mnist-grid";
    expect(view(stories.stopped_by_operator.state).advice).toBe(told);
    expect(view({ phase: "waiting", reason: "no_work" }).advice).toBeNull();
    expect(view({ phase: "computing", trial: TRIAL, stoppedStudy }).advice).toBe(told);
  });

  it("shows what a name hides, also in a sentence", () => {
    const hides = { studyName: "ab\u202ec", owner: "Ao\u200bki" };
    const trial = { ...TRIAL, ...hides };
    const shown = view({ phase: "computing", trial, stoppedStudy: "d\u202ee" });
    expect(shown.trial).toMatchObject({ study: "ab\\u{202E}c", owner: "for Ao\\u{200B}ki" });
    expect(shown.announcement).toContain("ab\\u{202E}c");
    expect(shown.advice).toBe(en.states.stoppedByOperator("d\\u{202E}e"));
    const interrupted = { during: "trial", study: 3, studyName: "f\u00adg", number: 0 } as const;
    expect(view({ phase: "idle" }, { interrupted }).advice).toBe(
      en.states.interruptedTrial("1", "f\\u{00AD}g"),
    );
  });

  it("offers to take over from another tab", () => {
    expect(view({ phase: "elsewhere" })).toMatchObject({
      ...en.states.elsewhere,
      action: { kind: "start", label: en.actions.useThisTab },
    });
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
    expect(contributionView(undefined, en, format)).toBeNull();
    expect(contributionView({ trials: 0, seconds: 0 }, en, format)).toBeNull();
  });

  it("gives trials and time", () => {
    expect(contributionView({ trials: 12, seconds: 1490 }, en, format)).toEqual({
      trials: "12",
      time: "24 min 50 sec",
      thanks: en.contribution.thanks,
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
      "computing_given",
      "computing_first",
      "computing_one",
      "computing_awkward",
      "finishing",
      "cooling_heat",
      "cooling_pressure",
      "computing_offline",
      "offline",
      "comes_back",
    ]);
  });
});
