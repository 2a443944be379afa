import { describe, expect, it } from "vitest";
import { type ConsoleRows, FakeConsole } from "../stories/fake_console.ts";
import { artifact, researchStories } from "../stories/research_states.ts";
import { IDLE_POLL_MS, LIVE_POLL_MS, ResearchStore } from "./research_store.ts";
import { pointsOf, REPORTED, SeriesStore } from "./series_store.ts";
import { FIRST_CHOICE } from "./trials/trials_store.ts";
import { announcementOf, removedText, studyName, titleOf } from "./view_model.ts";
import { en } from "./words/en.ts";

function scenario(hash: string, rest: { rows?: Partial<ConsoleRows>; token?: string | null } = {}) {
  const api = new FakeConsole({ ...researchStories.studies.rows, ...rest.rows });
  const token = rest.token === undefined ? "hfr_kept" : rest.token;
  const kept = new Map<string, string>(token === null ? [] : [["hyperflock.token", token]]);
  const tokens: string[] = [];
  const place = { hash, visible: true, go: () => {}, see: () => {} };
  const timers: { ms: number; run: () => void }[] = [];
  const store = new ResearchStore({
    api: (given) => {
      tokens.push(given);
      return api;
    },
    tokens: {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    },
    hash: () => place.hash,
    onHashChange: (listener) => {
      place.go = listener;
      return () => {
        place.go = () => {};
      };
    },
    goTo: (to) => {
      place.hash = to;
    },
    after: (ms, run) => {
      const timer = { ms, run };
      timers.push(timer);
      return () => {
        const at = timers.indexOf(timer);
        if (at >= 0) {
          timers.splice(at, 1);
        }
      };
    },
    isVisible: () => place.visible,
    onVisible: (listener) => {
      place.see = listener;
      return () => {};
    },
    random: () => 1,
    language: "en",
    rememberLanguage: () => {},
  });
  const go = (to: string) => {
    place.hash = to;
    place.go();
  };
  const tick = () => {
    const timer = timers.shift();
    timer?.run();
  };
  return { store, api, kept, tokens, place, timers, go, tick };
}

const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

describe("the session", () => {
  it("asks nothing before somebody signs in", async () => {
    const { store, api } = scenario("#/", { token: null });
    await settled();
    expect([store.session.value.kind, api.calls]).toEqual(["out", []]);
  });

  it("keeps a token that the server knows, and no other", async () => {
    const { store, kept, tokens, api } = scenario("#/", { token: null });
    api.rows = { ...api.rows, faults: { me: "unauthorized" } };
    await store.signIn("hfr_wrong");
    expect([store.session.value.kind, kept.size]).toEqual(["out", 0]);
    expect(store.problem.value?.code).toBe("unauthorized");
    api.rows = { ...api.rows, faults: {} };
    await store.signIn("  hfr_right\n");
    expect(store.session.value.kind).toBe("in");
    expect([...kept.values()]).toEqual(["hfr_right"]);
    expect(tokens).toEqual(["hfr_wrong", "hfr_right"]);
  });

  it("never asks with what no header can carry", async () => {
    const { store, tokens } = scenario("#/", { token: null });
    await store.signIn("two words");
    await store.signIn("");
    expect([tokens, store.problem.value?.code]).toEqual([[], "unauthorized"]);
  });

  it("goes on after a reload", async () => {
    const { store, tokens } = scenario("#/");
    await settled();
    expect([store.session.value.kind, tokens]).toEqual(["in", ["hfr_kept"]]);
    expect(store.studies.value).toHaveLength(3);
  });

  it("keeps the token while the server cannot be reached", async () => {
    const { store, kept } = scenario("#/", { rows: { faults: { me: "unreachable" } } });
    await settled();
    expect([store.session.value.kind, kept.size]).toEqual(["out", 1]);
  });

  it("ends everywhere at once", async () => {
    const { store, kept, timers, api } = scenario("#/studies/7");
    await settled();
    store.signOut();
    expect([store.session.value.kind, kept.size, timers.length]).toEqual(["out", 0, 0]);
    expect([store.study.value, store.data.value.trials]).toEqual([null, []]);
    const asked = api.calls.length;
    store.signOut();
    await settled();
    expect(api.calls).toHaveLength(asked);
  });

  it("ends when the token is revoked", async () => {
    const { store, kept, api, tick } = scenario("#/");
    await settled();
    api.rows = { ...api.rows, faults: { studies: "unauthorized" } };
    tick();
    await settled();
    expect([store.session.value.kind, kept.size]).toEqual(["out", 0]);
    expect(store.problem.value?.code).toBe("unauthorized");
  });
});

describe("following", () => {
  it("asks again soon while something runs, and seldom otherwise", async () => {
    const live = scenario("#/studies/7");
    const done = scenario("#/studies/5");
    await settled();
    expect(live.timers.map(({ ms }) => ms)).toEqual([LIVE_POLL_MS]);
    expect(done.timers.map(({ ms }) => ms)).toEqual([IDLE_POLL_MS]);
  });

  it("asks seldom about what is operated, also after the list of running studies", async () => {
    const { store, timers, go } = scenario("#/");
    await settled();
    expect(store.studies.value?.some(({ state }) => state === "running")).toBe(true);
    expect(timers.map(({ ms }) => ms)).toEqual([LIVE_POLL_MS]);
    go("#/operate");
    await settled();
    expect(store.operated.value).not.toBeNull();
    expect(timers.map(({ ms }) => ms)).toEqual([IDLE_POLL_MS]);
  });

  it("reads each row once: further on from the cursor, and only when there is more", async () => {
    const { store, api, tick } = scenario("#/studies/5");
    await settled();
    expect(store.data.value).toMatchObject({ study: 5, cursor: 115 });
    expect(store.data.value.trials).toHaveLength(16);
    tick();
    await settled();
    expect(api.calls.filter((call) => call.startsWith("trials"))).toEqual(["trials 5 0"]);
    const late = { ...api.rows.trials.find((row) => row.study === 5), seq: 200, values: [9] };
    api.rows = {
      ...api.rows,
      studies: api.rows.studies.map((row) => (row.study === 5 ? { ...row, cursor: 200 } : row)),
      trials: [...api.rows.trials, late],
    };
    tick();
    await settled();
    expect(api.calls.filter((call) => call.startsWith("trials")).at(-1)).toBe("trials 5 115");
    // The new row of a trial has replaced the older row of the same trial.
    expect(store.data.value.trials).toHaveLength(16);
    expect(store.data.value.trials.find((row) => row.seq === 200)?.values).toEqual([9]);
  });

  it("keeps rows still while newer ones arrive, until the reader wants them or goes elsewhere", async () => {
    const { store, api, tick, go } = scenario("#/studies/7");
    await settled();
    const before = store.data.value;
    store.keepStill(true);
    const arrive = async (seq: number) => {
      const late = { ...api.rows.trials.find((row) => row.study === 7), seq, trial: 1_000 + seq };
      api.rows = {
        ...api.rows,
        studies: api.rows.studies.map((row) => (row.study === 7 ? { ...row, cursor: seq } : row)),
        trials: [...api.rows.trials, late],
      };
      tick();
      await settled();
    };
    await arrive(300);
    await arrive(301);
    expect(store.data.value).toBe(before);
    expect(store.waiting.value).toBe(2);
    // Rows that wait are not asked for again.
    expect(api.calls.filter((call) => call.startsWith("trials 7")).at(-1)).toBe("trials 7 300");
    store.keepStill(false);
    expect(store.data.value.trials).toHaveLength(before.trials.length + 2);
    expect([store.waiting.value, store.data.value.cursor]).toEqual([0, 301]);
    await arrive(302);
    expect(store.data.value.trials).toHaveLength(before.trials.length + 3);
    store.keepStill(true);
    await arrive(303);
    go("#/studies/5");
    await settled();
    expect([store.isStill.value, store.waiting.value, store.data.value.study]).toEqual([
      false,
      0,
      5,
    ]);
  });

  it("reads a study's space once, and does without it where the server does not answer", async () => {
    const { store, api } = scenario("#/studies/5");
    await settled();
    await Promise.all([store.loadSpace(), store.loadSpace()]);
    expect(store.space.value?.get("lr")).toEqual({
      kind: "categorical",
      choices: [0.1, 0.01, 0.001],
    });
    await store.loadSpace();
    expect(api.calls.filter((call) => call.startsWith("space"))).toEqual(["space 5"]);
    const other = scenario("#/studies/5", { rows: { faults: { space: "unreachable" } } });
    await settled();
    await other.store.loadSpace();
    expect([other.store.space.value?.size, other.store.problem.value]).toEqual([0, null]);
  });

  it("waits longer after each failure, says why, and recovers", async () => {
    const { store, api, timers, tick } = scenario("#/studies/7");
    await settled();
    const before = store.data.value.trials.length;
    api.rows = { ...api.rows, faults: { study: "unreachable" } };
    const waits: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      tick();
      await settled();
      waits.push(timers[0]?.ms ?? 0);
    }
    expect(waits).toEqual([4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(store.problem.value?.code).toBe("unreachable");
    expect(store.data.value.trials).toHaveLength(before);
    api.rows = { ...api.rows, faults: {} };
    tick();
    await settled();
    expect([store.problem.value, timers[0]?.ms]).toEqual([null, LIVE_POLL_MS]);
  });

  it("asks nothing while the page is hidden, and at once when it is seen", async () => {
    const { api, place, tick } = scenario("#/");
    await settled();
    const asked = api.calls.length;
    place.visible = false;
    tick();
    await settled();
    expect(api.calls).toHaveLength(asked);
    place.visible = true;
    place.see();
    await settled();
    expect(api.calls.length).toBeGreaterThan(asked);
  });

  it("shows nothing of a study that was left meanwhile", async () => {
    const { store, go } = scenario("#/studies/7");
    go("#/studies/5");
    await settled();
    expect([store.study.value?.study, store.data.value.study]).toEqual([5, 5]);
    go("#/studies/5/trials/3");
    await settled();
    expect(store.detail.value?.trial).toBe(3);
    expect(store.data.value.trials).toHaveLength(16);
    go("#/");
    await settled();
    expect(store.study.value).toBeNull();
  });

  it("starts each study's table anew", async () => {
    const { store, go } = scenario("#/studies/7");
    await settled();
    store.trials.pressColumn("value:0");
    store.trials.choose({ state: "failed", filter: "trial > 3" });
    expect(store.trials.rows.value.map(({ trial }) => trial)).toEqual([9, 30]);
    go("#/studies/5");
    await settled();
    expect(store.trials.choice.value).toEqual(FIRST_CHOICE);
    expect(store.trials.rows.value).toHaveLength(16);
  });
});

describe("the buttons", () => {
  it("R61: give a study another priority", async () => {
    const { store, api } = scenario("#/studies/7");
    await settled();
    expect(store.study.value?.priority).toBe(0);
    await store.prioritizeStudy(-5);
    expect(store.study.value?.priority).toBe(-5);
    expect(api.calls).toContain("prioritize 7 -5");
  });

  it("pause and cancel a study and replay its failed trials", async () => {
    const { store, api } = scenario("#/studies/7");
    await settled();
    await store.replayFailed();
    await settled();
    expect(store.study.value?.failed).toBe(0);
    await store.pauseStudy(true);
    await settled();
    expect(store.study.value?.isPaused).toBe(true);
    await store.pauseStudy(false);
    await settled();
    expect(store.study.value?.isPaused).toBe(false);
    await store.cancelStudy();
    await settled();
    expect(store.study.value?.state).toBe("cancelled");
    expect(api.calls).toContain("replay 7");
    expect(api.calls).toContain("cancel 7");
    expect(store.busy.value).toBe(false);
  });

  it("reject the results of a device and of a trial", async () => {
    const { store, api } = scenario("#/studies/7");
    await settled();
    await store.reject({ device: "d_1" }, "it lies");
    await settled();
    await store.reject({ trial: 3 }, "");
    await settled();
    await store.banDevice("d_1", "it lies");
    await settled();
    expect(api.calls).toContain('reject 7 {"device":"d_1","reason":"it lies"}');
    expect(api.calls).toContain('reject 7 {"trial":3,"reason":""}');
    expect(api.calls).toContain("banDevice d_1 it lies");
    expect(store.busy.value).toBe(false);
  });

  it("show older studies, also when the list is asked for again", async () => {
    const one = researchStories.studies.rows.studies[0];
    const studies = Array.from({ length: 230 }, (_, i) => ({ ...one, study: 230 - i }));
    const { store, tick } = scenario("#/", { rows: { studies } });
    await settled();
    const shown = () => [store.studies.value?.length, store.olderStudies.value];
    expect(shown()).toEqual([100, true]);
    await store.showOlder();
    expect(shown()).toEqual([200, true]);
    tick();
    await settled();
    expect(shown()).toEqual([200, true]);
    await store.showOlder();
    expect(shown()).toEqual([230, false]);
  });

  it("ask for older studies once, and not while another request is in progress", async () => {
    const one = researchStories.studies.rows.studies[0];
    const studies = Array.from({ length: 230 }, (_, i) => ({ ...one, study: 230 - i }));
    const { store, api, tick } = scenario("#/", { rows: { studies } });
    await settled();
    api.calls.length = 0;
    await store.showOlder();
    await settled();
    expect(api.calls.filter((call) => call.startsWith("studies"))).toHaveLength(1);
    expect(store.busy.value).toBe(false);
    store.busy.value = true;
    await store.showOlder();
    store.busy.value = false;
    tick();
    await settled();
    expect(store.studies.value).toHaveLength(200);
  });

  it("delete a study, and show the list without it", async () => {
    const { store, api, place, go } = scenario("#/studies/5");
    await settled();
    api.calls.length = 0;
    await store.removeStudy();
    await settled();
    expect(api.calls.filter((call) => call.endsWith(" 5"))).toEqual(["remove 5"]);
    expect([place.hash, store.route.value.page]).toEqual(["#/", "studies"]);
    go("#/"); // the browser's own event
    await settled();
    expect(store.studies.value?.map(({ study }) => study)).toEqual([7, 2]);
    expect([store.removed.value, store.problem.value, store.study.value]).toEqual([
      "digits, first round",
      null,
      null,
    ]);
    go("#/studies/7");
    expect(store.removed.value).toBeNull();
  });

  it("stay on a study that could not be deleted", async () => {
    const { store, api } = scenario("#/studies/5");
    await settled();
    api.rows = { ...api.rows, faults: { remove: "study_running" } };
    await store.removeStudy();
    await settled();
    expect([store.refusal.value?.code, store.removed.value]).toEqual(["study_running", null]);
    expect(store.route.value).toEqual({ page: "study", study: 5, part: "overview" });
  });

  it("say why they could not", async () => {
    const { store, api, tick } = scenario("#/");
    await settled();
    api.rows = { ...api.rows, faults: { joinLink: "storage_unavailable" } };
    await store.makeJoinLink();
    expect([store.joinLink.value, store.refusal.value?.code]).toEqual([
      null,
      "storage_unavailable",
    ]);
    expect(store.busy.value).toBe(false);
    // The answer to a poll does not clear the shown error, but the next press of a button does.
    tick();
    await settled();
    expect(store.refusal.value?.code).toBe("storage_unavailable");
    api.rows = { ...api.rows, faults: {} };
    await store.makeJoinLink();
    expect(store.refusal.value).toBeNull();
    expect(store.joinLink.value).toContain("/join#");
  });
});

describe("the administrators' view", () => {
  const rows = { ...researchStories.operate.rows };

  it("says what a change has done, until the next one or another view", async () => {
    const { store, api, go } = scenario("#/operate", { rows });
    await settled();
    expect(announcementOf(store)).toBe("");
    const suspend = () =>
      store.operate(
        (to) => to.changePerson(2, { state: "suspended", reason: "hot" }),
        (words) => words.operate.done.suspended("Aoki Lab"),
      );
    expect(await suspend()).toBe(true);
    await settled();
    expect(announcementOf(store)).toBe(en.operate.done.suspended("Aoki Lab"));
    expect(store.operated.value?.people[1]).toMatchObject({ state: "suspended", reason: "hot" });
    api.rows = { ...api.rows, faults: { changePerson: "last_admin" } };
    expect(await suspend()).toBe(false);
    expect([store.done.value, store.refusal.value?.code]).toEqual([null, "last_admin"]);
    api.rows = { ...api.rows, faults: {} };
    await suspend();
    go("#/");
    expect(announcementOf(store)).toBe("");
  });

  it("makes one change at a time", async () => {
    const { store, api } = scenario("#/operate", { rows });
    await settled();
    const done = () => "done";
    const both = [
      store.operate((to) => to.freeze(1, "first"), done),
      store.operate((to) => to.freeze(1, "second"), done),
    ];
    expect(await Promise.all(both)).toEqual([true, false]);
    expect(api.calls.filter((call) => call.startsWith("freeze"))).toEqual(["freeze 1 first"]);
  });

  it("shows more people on request, and keeps them at the next poll", async () => {
    const [one] = rows.people ?? [];
    const people = Array.from({ length: 501 }, (_, i) => ({ ...one, researcher: i + 1 }));
    const { store, tick } = scenario("#/operate", { rows: { ...rows, people } });
    await settled();
    const shown = () => [store.operated.value?.people.length, store.operated.value?.morePeople];
    expect(shown()).toEqual([500, true]);
    await store.showMorePeople();
    expect(shown()).toEqual([501, false]);
    tick();
    await settled();
    expect(shown()).toEqual([501, false]);
  });
});

describe("a name with hidden characters", () => {
  const hides = "ab\u202ec";
  const shows = "ab\\u{202E}c";
  const rows = {
    studies: researchStories.studies.rows.studies.map((row) => ({ ...row, name: hides })),
  };

  it("is shown as it is in headings, titles and announcements", async () => {
    const { store } = scenario("#/studies/5", { rows });
    await settled();
    expect(studyName(store, 5)).toBe(shows);
    expect(titleOf(store)).toBe(shows);
    expect(announcementOf(store)).toBe(
      en.study.announce(shows, en.studyStates[store.study.value?.state ?? "running"]),
    );
    await store.removeStudy();
    await settled();
    expect(removedText(store)).toBe(en.studies.removed(shows));
    expect(announcementOf(store)).toBe(en.studies.removed(shows));
  });
});

describe("a trial's files", () => {
  const artifacts = [artifact("a1", "weights.npz", 10), artifact("b1", "other.npz", 10, 22)];

  it("are those of the trial on the page, and go with it", async () => {
    const { store, go } = scenario("#/studies/7/trials/21", { rows: { artifacts } });
    await settled();
    expect(store.files.value).toMatchObject([{ id: "a1", name: "weights.npz", bytes: 10 }]);
    expect(store.files.value).toHaveLength(1);
    go("#/studies/7");
    expect(store.files.value).toEqual([]);
  });

  it("are given to the reader, or their refusal is shown", async () => {
    const faults = { artifact: "unknown_artifact" };
    const { store, api } = scenario("#/studies/7/trials/21", { rows: { artifacts } });
    await settled();
    const saved: Blob[] = [];
    await store.fetchFile("a1", (content) => saved.push(content));
    expect(await saved[0]?.text()).toBe("a1");
    api.rows = { ...api.rows, faults };
    await store.fetchFile("a1", (content) => saved.push(content));
    expect(saved).toHaveLength(1);
    expect(store.refusal.value?.code).toBe("unknown_artifact");
  });

  it("hold up no button, and come to nobody who has left", async () => {
    const { store, api, go } = scenario("#/studies/7/trials/21", { rows: { artifacts } });
    await settled();
    let answer: (content: Blob) => void = () => {};
    api.artifact = () => new Promise((resolve) => (answer = resolve));
    const saved: Blob[] = [];
    const fetched = store.fetchFile("a1", (content) => saved.push(content));
    expect([...store.fetching.value]).toEqual(["a1"]);
    expect(store.busy.value).toBe(false);
    go("#/studies/7");
    answer(new Blob(["late"]));
    await fetched;
    expect(saved).toEqual([]);
    expect(store.fetching.value.size).toBe(0);
  });
});

async function seriesScenario() {
  const api = new FakeConsole(researchStories.study_running.rows);
  const series = new SeriesStore();
  const study = { ...(await api.study(7)), cursor: 143 }; // the `seq` of the last story trial
  api.calls.length = 0;
  return { api, series, study };
}

describe("the series of a study", () => {
  it("are known by name, and no line is asked for before its chart is in view", async () => {
    const { api, series, study } = await seriesScenario();
    await series.refresh(api, study);
    expect(series.names.value.map(({ name }) => name)).toEqual([
      "train/loss",
      "val/accuracy",
      "learning rate",
    ]);
    expect(api.calls).toEqual(["seriesNames 7", "curves 7 0 20"]);
  });

  it("have the reported values as one more, if a trial has reported any", async () => {
    const { api, series, study } = await seriesScenario();
    series.show(REPORTED);
    await series.refresh(api, study);
    await series.refresh(api, study);
    expect(series.hasReports.value).toBe(true);
    // It is looked for once, and finished trials are read once.
    const calls = api.calls.filter((call) => call.startsWith("curves"));
    expect(calls).toEqual(["curves 7 0 20", "curves 7 0 200"]);
    const lines = series.lines.value.get(REPORTED);
    expect([...(lines?.running.keys() ?? [])]).toEqual([44]);
    expect(lines?.finished.size).toBeGreaterThan(30);

    const none = await seriesScenario();
    const trials = none.api.rows.trials.map((row) => ({ ...row, points: [] }));
    none.api.rows = { ...none.api.rows, trials };
    await none.series.refresh(none.api, none.study);
    await none.series.refresh(none.api, none.study);
    expect(none.series.hasReports.value).toBe(false);
    expect(none.api.calls.filter((call) => call.startsWith("curves"))).toHaveLength(1);
  });

  it("are loaded when a chart comes into view, those of running trials too", async () => {
    const { api, series, study } = await seriesScenario();
    await series.refresh(api, study);
    series.show(2);
    series.show(2);
    await settled();
    const lines = series.lines.value.get(2);
    expect(lines?.finished.size).toBe(42);
    expect([...(lines?.running.keys() ?? [])]).toEqual([44]);
    expect(lines?.finished.get(0)).toHaveLength(10);
    expect(api.calls.filter((call) => call.startsWith("series "))).toEqual(["series 7 2 400 0"]);
    expect([...series.lines.value.keys()]).toEqual([2]);
  });

  it("of trials that have finished are asked for once", async () => {
    const { api, series, study } = await seriesScenario();
    series.show(1);
    await series.refresh(api, study);
    await series.refresh(api, study);
    expect(api.calls.filter((call) => call.startsWith("series "))).toHaveLength(1);
    expect(api.calls.filter((call) => call.startsWith("unfinishedSeries"))).toHaveLength(2);
  });

  it("of another study are not mixed in, whatever comes late", async () => {
    const { api, series, study } = await seriesScenario();
    await series.refresh(api, study);
    series.show(1);
    series.clear();
    await settled();
    expect([series.names.value, series.lines.value.size]).toEqual([[], 0]);
  });

  it("are left to the next refresh when the server cannot be reached", async () => {
    const { api, series, study } = await seriesScenario();
    await series.refresh(api, study);
    const rows = api.rows;
    api.rows = { ...rows, faults: { series: "unreachable" } };
    series.show(1);
    await settled();
    expect(series.lines.value.size).toBe(0);
    await expect(series.refresh(api, study)).rejects.toThrow();
    api.rows = rows;
    await series.refresh(api, study);
    expect(series.lines.value.get(1)?.finished.size).toBe(42);
  });

  it("have fewer points the more trials there are", () => {
    expect([1, 100, 1_000, 1_000_000].map(pointsOf)).toEqual([400, 320, 32, 8]);
  });
});
