import { describe, expect, it } from "vitest";
import { FakeVolunteer } from "../stories/fake_volunteer.ts";
import { kAfterStart, kStoryNowMs, stories } from "../stories/states.ts";
import type { CodeResult } from "./enrolment_code.ts";
import { JoinStore } from "./join_store.ts";
import type { ProjectLoad } from "./project_api.ts";

function scenario(loads: ProjectLoad[], code: CodeResult = { kind: "code", code: "hfe_1" }) {
  const volunteer = new FakeVolunteer(
    {
      state: { phase: "idle" },
      contribution: { trials: 0, seconds: 0 },
      project: null,
      awake: false,
    },
    kAfterStart,
  );
  const made: string[] = [];
  const asked: string[] = [];
  const timers = new Set<() => void>();
  const remembered: string[] = [];
  const clock = { ms: kStoryNowMs };
  const store = new JoinStore({
    code,
    createVolunteer: (options) => {
      made.push(options.code);
      return volunteer;
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
    language: "en",
    rememberLanguage: (language) => remembered.push(language),
  });
  const tick = (ms: number) => {
    clock.ms += ms;
    for (const timer of timers) {
      timer();
    }
  };
  return { store, volunteer, made, asked, timers, remembered, tick };
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

  it("lets go of the volunteer when it is disposed", () => {
    const { store, volunteer, timers } = scenario([]);
    volunteer.show({ state: stories.computing.state });
    store.dispose();
    expect(timers.size).toBe(0);
    volunteer.show({ state: { phase: "stopped" } });
    expect(store.panel.value.phase).toBe("computing");
  });
});
