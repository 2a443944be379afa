import { describe, expect, it } from "vitest";
import { FakeVolunteer } from "../stories/fake_volunteer.ts";
import { AFTER_START, PROJECT, STORY_NOW_MS, stories } from "../stories/states.ts";
import type { CodeResult } from "./enrolment_code.ts";
import { JoinStore } from "./join_store.ts";
import type { ProjectLoad } from "./project_api.ts";

function fakeVolunteer(): FakeVolunteer {
  return new FakeVolunteer(
    {
      state: { phase: "idle" },
      contribution: { trials: 0, seconds: 0 },
      project: null,
      awake: false,
      interrupted: null,
      finishing: false,
    },
    AFTER_START,
  );
}

function scenario(loads: ProjectLoad[], code: CodeResult = { kind: "codes", codes: ["hfe_1"] }) {
  const volunteer = fakeVolunteer();
  const other = fakeVolunteer();
  const connection = { tell: (_online: boolean) => {} };
  const made: string[] = [];
  const asked: string[] = [];
  const timers = new Set<() => void>();
  const remembered: string[] = [];
  const kept: number[] = [];
  const clock = { ms: STORY_NOW_MS };
  const store = new JoinStore({
    code,
    createVolunteer: (options) => {
      made.push(options.code);
      return made.length === 1 ? volunteer : other;
    },
    fetchProject: async (asking) => {
      asked.push(asking);
      return loads.shift() ?? { kind: "problem", problem: "server" };
    },
    now: () => clock.ms,
    every: (_ms, tick) => {
      timers.add(tick);
      return () => timers.delete(tick);
    },
    online: true,
    onOnlineChange: (tell) => {
      connection.tell = tell;
      return () => {
        connection.tell = () => {};
      };
    },
    hasGpu: true,
    gpuShare: 0.5,
    rememberGpuShare: (share) => kept.push(share),
    inApp: { app: "line", label: "LINE", system: "ios" },
    language: "en",
    rememberLanguage: (language) => remembered.push(language),
  });
  const tick = (ms: number) => {
    clock.ms += ms;
    for (const timer of timers) {
      timer();
    }
  };
  store.stayInApp();
  return { store, volunteer, other, connection, made, asked, timers, remembered, kept, tick };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("JoinStore", () => {
  it("asks for the project and starts nothing before the tap", async () => {
    const { store, volunteer, asked } = scenario([stories.idle.load]);
    expect(store.panel.value.phase).toBe("project_loading");
    await settled();
    expect(asked).toEqual(["hfe_1"]);
    expect(store.project.value?.owner).toBe("Aoki Lab");
    expect(volunteer.calls).toEqual([]);
    store.start();
    expect(volunteer.calls).toEqual(["start"]);
    expect(store.panel.value.phase).toBe("joining");
    store.stop();
    expect(store.panel.value.phase).toBe("stopped");
  });

  it("lends the graphics processor as the volunteer chose before, and chooses now", async () => {
    const { store, volunteer, kept } = scenario([stories.idle.load]);
    await settled();
    expect(volunteer.gpuShare).toBe(0.5);
    store.setGpuShare(0.25);
    expect([volunteer.gpuShare, store.gpuShare.value, kept]).toEqual([0.25, 0.25, [0.25]]);
  });

  it("neither asks nor makes a volunteer without a code", async () => {
    for (const kind of ["missing", "malformed"] as const) {
      const { store, made, asked } = scenario([], { kind });
      await settled();
      expect(store.panel.value.phase).toBe("project_problem");
      store.start();
      expect([made, asked]).toEqual([[], []]);
    }
  });

  it("asks again after a failure", async () => {
    const { store } = scenario([{ kind: "problem", problem: "unreachable" }, stories.idle.load]);
    await settled();
    expect(store.panel.value.action?.kind).toBe("reload_project");
    await store.loadProject();
    expect(store.panel.value.action?.kind).toBe("start");
  });

  it("prefers the project that came with the join", async () => {
    const { store, volunteer } = scenario([stories.idle.load]);
    await settled();
    volunteer.show({
      project: { name: "Newer", owner: "B", studies: 1, trialsDone: 2, trialsTotal: 3 },
    });
    expect(store.project.value?.name).toBe("Newer");
  });

  it("pauses, resumes, and switches whether the trial is the last one", () => {
    const { store, volunteer } = scenario([]);
    volunteer.show({ state: stories.computing.state });
    store.toggleFinish();
    expect(store.panel.value.more.find(({ kind }) => kind === "finish")?.pressed).toBe(true);
    store.toggleFinish();
    expect(store.panel.value.more.find(({ kind }) => kind === "finish")?.pressed).toBe(false);
    store.pause();
    expect(store.panel.value.action?.kind).toBe("resume");
    store.resume();
    expect(volunteer.calls).toEqual(["finish", "finish", "pause", "resume"]);
  });

  it("says that the device is offline, and asks again when it is not", async () => {
    const { store, volunteer, connection, asked } = scenario([
      { kind: "problem", problem: "unreachable" },
      stories.idle.load,
    ]);
    connection.tell(false);
    await settled();
    expect(asked).toHaveLength(1);
    connection.tell(true);
    await settled();
    expect(asked).toHaveLength(2);
    expect(store.panel.value.phase).toBe("idle");
    volunteer.show({ state: { phase: "connecting", attempt: 2, retryAt: STORY_NOW_MS + 9_000 } });
    expect(store.panel.value.phase).toBe("connecting");
    connection.tell(false);
    expect(store.panel.value.phase).toBe("offline");
    connection.tell(true);
    expect(asked).toHaveLength(2);
  });

  it("lets one of a link's projects be chosen while nothing runs", async () => {
    const second = { ...PROJECT, name: "Second" };
    const { store, volunteer, other, made } = scenario(
      [stories.idle.load, { kind: "ready", project: second }],
      { kind: "codes", codes: ["hfe_1", "hfe_2"] },
    );
    await settled();
    expect(store.choices.value.map(({ isChosen }) => isChosen)).toEqual([true, false]);
    store.choose(1);
    expect(store.project.value?.name).toBe("Second");
    store.start();
    expect([made, volunteer.calls, other.calls]).toEqual([["hfe_1", "hfe_2"], [], ["start"]]);
    expect(store.choices.value).toEqual([]);
    store.choose(0);
    expect(store.project.value?.name).toBe("Second");
    store.stop();
    store.choose(0);
    expect(store.panel.value.phase).toBe("idle");
    store.choose(7);
    expect(store.project.value?.name).toBe("Small CNNs on MNIST");
  });

  it("shows what the names of projects hide", async () => {
    const project = { ...PROJECT, name: "ab\u202ec", owner: "Ao\u200bki" };
    const shown = { name: "ab\\u{202E}c", owner: "Ao\\u{200B}ki" };
    const { store } = scenario([{ kind: "ready", project }, stories.idle.load], {
      kind: "codes",
      codes: ["hfe_1", "hfe_2"],
    });
    await settled();
    expect(store.project.value).toMatchObject(shown);
    expect(store.choices.value[0]?.project).toMatchObject(shown);
  });

  it("turns to the code that is good when the first is not", async () => {
    const { store } = scenario([{ kind: "problem", problem: "bad_code" }, stories.idle.load], {
      kind: "codes",
      codes: ["hfe_1", "hfe_2"],
    });
    await settled();
    expect(store.choices.value).toEqual([]);
    expect(store.panel.value.action?.kind).toBe("start");
  });

  it("ticks only while seconds are shown", () => {
    const { store, volunteer, timers, tick } = scenario([]);
    expect(timers.size).toBe(0);
    volunteer.show({ state: stories.computing.state });
    expect(timers.size).toBe(1);
    tick(5_000);
    expect(store.panel.value.trial?.elapsed).toBe("2 min 17 sec");
    volunteer.show({ state: { phase: "stopped" } });
    expect(timers.size).toBe(0);
  });

  it("changes the language of everything at once and remembers it", async () => {
    const { store, remembered } = scenario([stories.idle.load]);
    await settled();
    store.setLanguage("ja");
    expect(store.panel.value.action?.label).toBe("開始");
    expect(store.words.value.tag).toBe("ja");
    expect(remembered).toEqual(["ja"]);
  });

  it("has the device forgotten, once, and offers it again where that failed", async () => {
    const { store, volunteer } = scenario([stories.idle.load]);
    await settled();
    expect(store.canForget).toBe(true);
    volunteer.show({ state: stories.computing.state });
    expect(store.canForget).toBe(true);
    store.forget();
    expect(volunteer.calls).toEqual(["forget"]);
    expect(store.panel.value.phase).toBe("forgetting");
    expect(store.canForget).toBe(false);
    volunteer.show({ state: { phase: "not_forgotten" } });
    expect(store.panel.value.action?.kind).toBe("forget");
    volunteer.show({ state: { phase: "forgotten" } });
    expect(store.canForget).toBe(false);
    expect(store.panel.value.action?.kind).toBe("start");
  });

  it("lets go of the volunteer when it is disposed", () => {
    const { store, volunteer, timers } = scenario([]);
    volunteer.show({ state: stories.computing.state });
    store.dispose();
    expect(timers.size).toBe(0);
    volunteer.show({ state: { phase: "stopped" } });
    expect(store.panel.value.phase).toBe("computing");
  });
});
