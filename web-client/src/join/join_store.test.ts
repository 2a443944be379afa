import { type Limits, NO_LIMITS } from "@hyperflock/worker-runtime/limits";
import type { RememberedProject } from "@hyperflock/worker-runtime/page";
import { describe, expect, it } from "vitest";
import { FakeVolunteer } from "../stories/fake_volunteer.ts";
import { AFTER_START, PROJECT, STORY_NOW_MS, stories } from "../stories/states.ts";
import { downloadSize, NOTHING_KEPT, SCRIPT_BYTES } from "./download/download.ts";
import type { CodeResult } from "./enrolment_code.ts";
import type { Given } from "./given/given_api.ts";
import { JoinStore, type Memory } from "./join_store.ts";
import { passphrasePart } from "./passphrase/passphrase.fixture.ts";
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
      cooling: null,
    },
    AFTER_START,
  );
}

/** A memory whose device has joined each of `projects`. `log` is what the store asked of it. */
function fakeMemory(projects: readonly RememberedProject[] = [], damaged = 0) {
  const log: string[] = [];
  const browser = { keeps: false, promises: true, remembers: true };
  const memory: Memory = {
    atOpening: { projects, damaged },
    deviceOf: async () => ({ hasDevice: true, contribution: { trials: 12, seconds: 60 } }),
    remember: async ({ code, name }) => {
      log.push(`remember ${code} ${name}`);
      return browser.remembers;
    },
    forget: async (code) => void log.push(`forget ${code}`),
    isKept: async (ask) => {
      if (ask) {
        log.push("ask");
        browser.keeps = browser.promises;
      }
      return browser.keeps;
    },
    clearAddress: () => void log.push("clear"),
  };
  return { memory, log, browser };
}

function scenario(
  loads: ProjectLoad[],
  code: CodeResult = { kind: "codes", codes: ["hfe_1"] },
  memory: Memory = fakeMemory().memory,
  passphrase = passphrasePart(),
) {
  const volunteer = fakeVolunteer();
  const other = fakeVolunteer();
  const connection = { tell: (_online: boolean) => {} };
  const made: string[] = [];
  const asked: string[] = [];
  const timers = new Set<() => void>();
  const remembered: string[] = [];
  const kept: number[] = [];
  const storedLimits: Limits[] = [];
  const clock = { ms: STORY_NOW_MS };
  const givenAsked: string[] = [];
  const later: (() => void)[] = [];
  const given = new Map<string, Given>();
  const store = new JoinStore({
    code,
    memory,
    createVolunteer: (options) => {
      made.push(options.code);
      return made.length === 1 ? volunteer : other;
    },
    fetchProject: async (asking) => {
      asked.push(asking);
      return loads.shift() ?? { kind: "problem", problem: "server" };
    },
    downloadSize: (downloads) => downloadSize(downloads, NOTHING_KEPT),
    fetchGiven: async (asking) => {
      givenAsked.push(asking);
      return given.get(asking) ?? null;
    },
    passphrase,
    now: () => clock.ms,
    after: (_ms, run) => void later.push(run),
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
    limits: { ...NO_LIMITS, onlyCharging: true },
    rememberLimits: (limits) => storedLimits.push(limits),
    reports: { battery: true, connection: false },
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
  return {
    store,
    volunteer,
    other,
    connection,
    made,
    asked,
    timers,
    remembered,
    kept,
    storedLimits,
    tick,
    given,
    givenAsked,
    later,
  };
}

const givenOf = (trials: number, name = PROJECT.name): Given => ({
  todaySince: STORY_NOW_MS - 34_200_000,
  projects: [
    {
      name,
      today: { trials: trials / 4, ms: 1_000, improved: 0 },
      week: { trials: trials / 2, ms: 2_000, improved: 1 },
      all: { trials, ms: 4_000, improved: 2 },
    },
  ],
});

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

  it("measures what a start fetches, if the server lists it", async () => {
    const piece = { path: "/runtime/numpy-1/numpy.zip", bytes: 2_000_000 };
    const downloads = { pieces: [piece], studies: [{ pieces: [0], blobs: [] }] };
    const { store } = scenario([{ kind: "ready", project: PROJECT, downloads }]);
    expect(store.download.value).toBeNull();
    await settled();
    const bytes = piece.bytes + SCRIPT_BYTES;
    expect(store.download.value).toEqual({ least: bytes, most: bytes });
  });

  it("lends the graphics processor as the volunteer chose before, and chooses now", async () => {
    const { store, volunteer, kept } = scenario([stories.idle.load]);
    await settled();
    expect(volunteer.gpuShare).toBe(0.5);
    store.setGpuShare(0.25);
    expect([volunteer.gpuShare, store.gpuShare.value, kept]).toEqual([0.25, 0.25, [0.25]]);
  });

  it("gives the limits to each volunteer and stores a change, while nothing is computed", async () => {
    const { store, volunteer, storedLimits } = scenario([stories.idle.load]);
    await settled();
    expect(volunteer.limits?.onlyCharging).toBe(true);
    store.setLimits(NO_LIMITS);
    expect([volunteer.limits, store.limits.value, storedLimits]).toEqual([
      NO_LIMITS,
      NO_LIMITS,
      [NO_LIMITS],
    ]);
    expect(store.maySetLimits.value).toBe(true);
    volunteer.show({ state: { phase: "connecting", attempt: 1, retryAt: null } });
    expect(store.maySetLimits.value).toBe(false);
    volunteer.show({ state: { phase: "paused", reason: "not_charging" } });
    expect(store.maySetLimits.value).toBe(true);
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

  it("shows the state in the tab's title once the device takes part", async () => {
    const { store, volunteer, connection } = scenario([stories.idle.load]);
    const { pageTitle, states } = store.words.value;
    expect(store.title.value).toBe(pageTitle);
    await settled();
    expect(store.title.value).toBe(pageTitle);
    volunteer.show({ state: stories.computing.state });
    expect(store.title.value).toBe(`${states.computing} – Hyperflock`);
    volunteer.show({ state: stories.delivering.state });
    expect(store.title.value).toBe(`${states.delivering.title} – Hyperflock`);
    volunteer.show({ state: { phase: "connecting", attempt: 3, retryAt: null } });
    connection.tell(false);
    expect(store.title.value).toBe(`${states.offline.title} – Hyperflock`);
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
    await store.choice.choose("ja");
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

describe("a device that comes back", () => {
  const one: RememberedProject = { code: "hfe_1", name: PROJECT.name, owner: "A", usedAt: 2 };
  const two: RememberedProject = { code: "hfe_2", name: "Other", owner: "B", usedAt: 1 };
  const back: CodeResult = { kind: "codes", codes: ["hfe_1", "hfe_2"], isMemory: true };
  const waiting = { phase: "waiting", reason: "no_work" } as const;
  const bad: ProjectLoad = { kind: "problem", problem: "bad_code" };

  it("finds its projects with what it gave, and one tap goes on with the last one", async () => {
    const { memory } = fakeMemory([one, two]);
    const { store, volunteer, givenAsked } = scenario([stories.idle.load, bad], back, memory);
    await settled();
    await settled();
    expect(store.choices.value).toMatchObject([
      { name: PROJECT.name, isChosen: true, problem: null, contribution: { trials: "12" } },
      { name: "Other", isChosen: false, problem: "bad_code", contribution: { trials: "12" } },
    ]);
    expect(store.contribution.value?.trials).toBe("12");
    // The server does not answer, so these are the device's own numbers.
    expect(givenAsked).toEqual(["hfe_1", "hfe_2"]);
    expect(store.panel.value).toMatchObject({ phase: "idle", showFacts: false });
    store.start();
    expect(volunteer.calls).toEqual(["start"]);
  });

  it("may start though its link has ended, because it has joined", async () => {
    const { store, volunteer } = scenario(
      [bad],
      { ...back, codes: ["hfe_1"] },
      fakeMemory([one]).memory,
    );
    await settled();
    expect(store.panel.value.text).toBe(store.words.value.memory.linkEnded);
    expect(store.names.value?.name).toBe(PROJECT.name);
    store.start();
    expect(volunteer.calls).toEqual(["start"]);
  });

  it("stays with the last project although another one answers first", async () => {
    const away: ProjectLoad = { kind: "problem", problem: "unreachable" };
    const { store } = scenario([away, stories.idle.load], back, fakeMemory([one, two]).memory);
    await settled();
    expect(store.choices.value.map(({ isChosen }) => isChosen)).toEqual([true, false]);
    expect(store.panel.value.action?.kind).toBe("reload_project");
    // Without a connection, the page says what this device has, and not what is missing.
    expect(store.panel.value).toMatchObject({ tone: "paused", ...store.words.value.app.offline });
    expect([store.isResting.value, store.takesPart.value]).toEqual([true, true]);
  });

  it("is remembered once it has joined, and not if it may not join", async () => {
    const { memory, log } = fakeMemory();
    const { store, volunteer } = scenario([stories.idle.load], undefined, memory);
    await settled();
    store.start();
    volunteer.show({ state: { phase: "failed", code: "bad_enrolment_code", message: "" } });
    await settled();
    expect(log).toEqual([]);
    store.start();
    volunteer.show({ state: waiting });
    volunteer.show({ state: { phase: "connecting", attempt: 1, retryAt: null } });
    await settled();
    expect(log).toEqual([`remember hfe_1 ${PROJECT.name}`]);
    expect(store.notes.value).toEqual([]);
  });

  it("shows what the server has counted, and not its own count, once the server has answered", async () => {
    const { memory } = fakeMemory([one]);
    const { store, volunteer, given, givenAsked, later } = scenario(
      [stories.idle.load],
      back,
      memory,
    );
    given.set("hfe_1", givenOf(20));
    expect(store.given.value).toBeNull();
    const pauseEnds = async () => {
      later.shift()?.();
      await settled();
    };
    await settled();
    expect(givenAsked).toEqual(["hfe_1"]);
    expect(store.given.value?.spans.map(({ trials }) => trials)).toEqual(["5", "10", "20"]);
    expect(store.contribution.value?.trials).toBe("20");
    given.set("hfe_1", givenOf(24));
    await pauseEnds();
    expect(givenAsked).toHaveLength(2);
    expect(store.contribution.value?.trials).toBe("24");
    // What the device finishes shows at once. The server is asked after the pause.
    volunteer.show({ state: waiting, contribution: { trials: 13, seconds: 61 } });
    volunteer.show({ contribution: { trials: 14, seconds: 62 } });
    await settled();
    expect(givenAsked).toHaveLength(3);
    expect(store.contribution.value?.trials).toBe("26");
    await pauseEnds();
    expect(givenAsked).toHaveLength(4);
    given.set("hfe_1", givenOf(28));
    await pauseEnds();
    expect(givenAsked).toHaveLength(5);
    expect(store.contribution.value?.trials).toBe("28");
    await pauseEnds();
    expect(givenAsked).toHaveLength(5);
    // A server that does not answer changes nothing.
    given.delete("hfe_1");
    volunteer.show({ contribution: { trials: 15, seconds: 63 } });
    await settled();
    await pauseEnds();
    expect(givenAsked).toHaveLength(7);
    expect(store.contribution.value?.trials).toBe("29");
    expect(store.given.value?.spans.map(({ trials }) => trials)).toEqual(["7", "14", "28"]);
    volunteer.show({ state: { phase: "forgotten" } });
    expect(store.given.value).toBeNull();
  });

  it("shows what all devices of a passphrase gave, each once, also without a device here", async () => {
    const passphrase = passphrasePart({ devices: 2, given: givenOf(50) });
    await passphrase.refresh();
    const { memory } = fakeMemory([one]);
    const { store, given } = scenario([stories.idle.load], back, memory, passphrase);
    given.set("hfe_1", givenOf(20));
    await settled();
    expect(store.given.value?.spans.at(-1)?.trials).toBe("50");
    expect(store.contribution.value?.trials).toBe("20"); // what this device gave to this project
    const fresh = scenario([stories.idle.load], undefined, fakeMemory().memory, passphrase).store;
    expect(fresh.given.value?.spans.at(-1)?.trials).toBe("50");
    passphrase.forget();
    expect(fresh.given.value).toBeNull();
  });

  it("shows less than its own count only when the server has had the time to count it", async () => {
    const { memory } = fakeMemory([one]);
    const { store, given, later } = scenario([stories.idle.load], back, memory);
    given.set("hfe_1", givenOf(8));
    await settled();
    expect(store.given.value?.spans.map(({ trials }) => trials)).toEqual(["2", "4", "8"]);
    expect(store.contribution.value?.trials).toBe("12");
    later.shift()?.();
    await settled();
    expect(store.contribution.value?.trials).toBe("8");
  });

  it("asks for nothing that was counted before its first start", async () => {
    const { volunteer, givenAsked } = scenario([stories.idle.load]);
    await settled();
    expect(givenAsked).toEqual([]);
    volunteer.show({ state: waiting });
    await settled();
    expect(givenAsked).toEqual(["hfe_1"]);
  });

  it("does not show an answer that comes after the device was forgotten", async () => {
    const { store, volunteer, given } = scenario([stories.idle.load]);
    given.set("hfe_1", givenOf(20));
    volunteer.show({ state: waiting });
    volunteer.show({ state: { phase: "forgotten" } });
    await settled();
    expect(store.given.value).toBeNull();
  });

  it("keeps its code in the address until the browser promises to keep the project", async () => {
    const { memory, log } = fakeMemory();
    const { volunteer } = scenario([stories.idle.load], undefined, memory);
    await settled();
    volunteer.show({ state: waiting });
    await settled();
    expect(log).not.toContain("ask");
    volunteer.show({ contribution: { trials: 1, seconds: 1 } });
    volunteer.show({ contribution: { trials: 2, seconds: 2 } });
    await settled();
    expect(log.slice(1)).toEqual(["ask", "clear"]);
  });

  it.each([
    ["the browser refuses", { promises: false }, ["hfe_1"]],
    ["another code of the link is not remembered", {}, ["hfe_1", "hfe_2"]],
  ] as const)("keeps its code in the address if %s", async (_why, change, codes) => {
    const { memory, log, browser } = fakeMemory();
    Object.assign(browser, change);
    const [first, ...others] = codes;
    const code: CodeResult = { kind: "codes", codes: [first, ...others] };
    const { volunteer } = scenario([stories.idle.load, stories.idle.load], code, memory);
    await settled();
    volunteer.show({ state: waiting, contribution: { trials: 1, seconds: 1 } });
    await settled();
    expect(log).not.toContain("clear");
  });

  it("says that nothing is kept, if storage is refused", async () => {
    const { memory, browser } = fakeMemory();
    browser.remembers = false;
    const { store, volunteer } = scenario([stories.idle.load], undefined, memory);
    await settled();
    volunteer.show({ state: waiting });
    await settled();
    expect(store.notes.value).toEqual([store.words.value.memory.notKept]);
  });

  it("says that a project has another name, and that a record is damaged", async () => {
    const { memory } = fakeMemory([{ ...one, name: "Old" }], 1);
    const { store } = scenario([stories.idle.load], { ...back, codes: ["hfe_1"] }, memory);
    await settled();
    const { renamed, damaged } = store.words.value.memory;
    expect(store.notes.value).toEqual([renamed("Old", PROJECT.name), damaged]);
  });

  it("forgets a project only when the server has, and still offers the other one", async () => {
    const { memory, log } = fakeMemory([one, two]);
    const { store, volunteer } = scenario([stories.idle.load, stories.idle.load], back, memory);
    await settled();
    volunteer.show({ state: { phase: "not_forgotten" } });
    expect(log).toEqual([]);
    volunteer.show({ state: { phase: "forgotten" } });
    expect(log).toEqual(["forget hfe_1"]);
    expect(store.choices.value.map(({ index }) => index)).toEqual([1]);
  });
});
