// Tests the page's handle of the agent, with a fake agent thread that records its messages.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NO_LIMITS } from "../governor/limits.ts";
import type { FromAgent, ToAgent } from "../page_contract/messages.ts";
import type {
  Volunteer,
  VolunteerSnapshot,
  VolunteerState,
} from "../page_contract/volunteer_state.ts";
import { createVolunteer } from "./volunteer.ts";
import { AGAIN_MS } from "./wake_lock.ts";

class FakeWorker extends EventTarget {
  static readonly all: FakeWorker[] = [];
  readonly told: ToAgent[] = [];
  isAlive = true;

  constructor(url: URL | string, options: { readonly type: string }) {
    super();
    if (options.type !== "module") throw new TypeError("Not a module.");
    if (typeof url === "string") throw new SyntaxError("The probe's address.");
    FakeWorker.all.push(this);
  }

  postMessage(message: ToAgent): void {
    this.told.push(message);
  }

  terminate(): void {
    this.isAlive = false;
  }

  say(message: FromAgent): void {
    this.dispatchEvent(new MessageEvent("message", { data: message }));
  }

  change(state: VolunteerState, trials = 1): void {
    this.say({ kind: "changed", state, contribution: { trials, seconds: 2 }, project: null });
  }
}

class FakeDocument extends EventTarget {
  visibilityState = "visible";

  show(state: "visible" | "hidden"): void {
    this.visibilityState = state;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

class FakeSentinel extends EventTarget {
  async release(): Promise<void> {
    this.dispatchEvent(new Event("release"));
  }
}

const computing: VolunteerState = {
  phase: "computing",
  trial: {
    study: 1,
    studyName: "s",
    owner: "ada",
    number: 0,
    total: 1,
    params: {},
    startedAt: 0,
    points: [],
  },
};

let volunteer: Volunteer;
let page: FakeDocument;
let frames: (() => void)[];
let sentinels: FakeSentinel[];
let windowEvents: EventTarget;
let kept: Map<string, string>;
let requests: [path: string, init: RequestInit][];

beforeEach(() => {
  FakeWorker.all.length = 0;
  page = new FakeDocument();
  frames = [];
  sentinels = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  vi.stubGlobal("Worker", FakeWorker);
  vi.stubGlobal("document", page);
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("crossOriginIsolated", true);
  windowEvents = new EventTarget();
  vi.stubGlobal("addEventListener", windowEvents.addEventListener.bind(windowEvents));
  kept = new Map();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
  requests = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    requests.push([path, init]);
    return new Response("{}");
  });
  vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
  const request = async () => {
    const sentinel = new FakeSentinel();
    sentinels.push(sentinel);
    return sentinel;
  };
  vi.stubGlobal("navigator", { wakeLock: { request } });
  volunteer = createVolunteer({ code: "CODE" });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const settled = async () => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
};

function agent(i = 0): FakeWorker {
  const found = FakeWorker.all[i];
  if (found === undefined) throw new Error(`There is no agent ${i}.`);
  return found;
}

test("Nothing starts before the tap, and one agent after it.", () => {
  expect(FakeWorker.all).toHaveLength(0);
  volunteer.start();
  volunteer.start();
  expect(FakeWorker.all).toHaveLength(1);
  expect(agent().told).toEqual([
    {
      kind: "start",
      code: "CODE",
      visible: true,
      careful: false,
      gpuShare: 1,
      processorShare: 1,
      dataLimits: { study: null, dayLeft: null },
    },
  ]);
  expect(volunteer.snapshot.state).toEqual({ phase: "joining" });
});

/** A laptop whose browser reports the charger. */
class FakeBattery extends EventTarget {
  level = 0.8;
  charging = true;

  plug(charging: boolean): void {
    this.charging = charging;
    this.dispatchEvent(new Event("chargingchange"));
  }
}

async function withBattery(): Promise<FakeBattery> {
  const battery = new FakeBattery();
  vi.stubGlobal("navigator", { ...navigator, getBattery: async () => battery });
  volunteer = createVolunteer({ code: "CODE" });
  volunteer.setLimits({ ...NO_LIMITS, onlyCharging: true });
  await settled();
  return battery;
}

test("A limit pauses the trial at once, says so, and ends by itself.", async () => {
  const battery = await withBattery();
  volunteer.start();
  agent().change(computing);
  volunteer.finish(true);
  battery.plug(false);
  expect(agent().told.at(-1)).toEqual({ kind: "visibility", visible: false });
  const paused = { phase: "paused", reason: "not_charging" };
  expect(volunteer.snapshot.state).toEqual({ ...paused, kept: true });
  expect(volunteer.snapshot.finishing).toBe(false);
  // To the agent, this is a hidden page.
  agent().change({ phase: "paused", reason: "hidden", kept: true });
  expect(volunteer.snapshot.state).toEqual({ ...paused, kept: true });
  agent().change({ phase: "paused", reason: "hidden" }); // it has given the trial back
  expect(volunteer.snapshot.state).toEqual(paused);
  page.show("hidden");
  page.show("visible");
  expect(agent().told.at(-1)).toEqual({ kind: "visibility", visible: false });
  battery.plug(true);
  expect(agent().told.at(-1)).toEqual({ kind: "visibility", visible: true });
  expect(volunteer.snapshot.state.phase).toBe("connecting");
});

test("A start under a limit computes nothing, and a limit that is lifted lets it go on.", async () => {
  const battery = await withBattery();
  battery.plug(false);
  volunteer.start();
  expect(agent().told).toMatchObject([{ kind: "start", visible: false }]);
  expect(volunteer.snapshot.state).toEqual({ phase: "paused", reason: "not_charging" });
  volunteer.setLimits(NO_LIMITS);
  expect(agent().told.at(-1)).toEqual({ kind: "visibility", visible: true });
});

test("The volunteer's own pause stays when a limit begins and ends.", async () => {
  const battery = await withBattery();
  volunteer.start();
  agent().change(computing);
  volunteer.pause();
  battery.plug(false);
  battery.plug(true);
  expect(volunteer.snapshot.state).toMatchObject({ phase: "paused", reason: "by_choice" });
  battery.plug(false);
  volunteer.resume();
  expect(volunteer.snapshot.state).toMatchObject({ phase: "paused", reason: "not_charging" });
  expect(agent().told.at(-1)).toEqual({ kind: "visibility", visible: false });
});

test("A browser that cannot compute is told why, and starts nothing.", () => {
  vi.stubGlobal("crossOriginIsolated", false);
  volunteer.start();
  expect(volunteer.snapshot.state).toEqual({ phase: "unsupported", reason: "not_isolated" });
  expect(FakeWorker.all).toHaveLength(0);
});

test("A browser whose threads cannot compute says so after the tap, and ends the thread.", () => {
  volunteer.start();
  agent().say({ kind: "unsupported", reason: "no_crypto" });
  expect(volunteer.snapshot.state).toEqual({ phase: "unsupported", reason: "no_crypto" });
  expect(agent().isAlive).toBe(false);
});

test("A browser that cannot compute says so before the tap.", () => {
  vi.stubGlobal("isSecureContext", false);
  expect(createVolunteer({ code: "CODE" }).snapshot.state).toEqual({
    phase: "unsupported",
    reason: "insecure_context",
  });
});

test("Changes are told once a frame, the newest only.", () => {
  const seen: VolunteerSnapshot[] = [];
  const unsubscribe = volunteer.subscribe((snapshot) => seen.push(snapshot));
  volunteer.start();
  agent().change({ phase: "waiting", reason: "no_work" });
  expect(seen).toEqual([]);
  expect(frames).toHaveLength(1);
  for (const frame of frames.splice(0)) frame();
  expect(seen).toMatchObject([{ state: { phase: "waiting" }, contribution: { trials: 1 } }]);
  unsubscribe();
  agent().change(computing);
  for (const frame of frames.splice(0)) frame();
  expect(seen).toHaveLength(1);
});

test("The agent is told of the page's visibility within the event.", () => {
  volunteer.start();
  page.show("hidden");
  page.show("visible");
  expect(agent().told.slice(1)).toEqual([
    { kind: "visibility", visible: false },
    { kind: "visibility", visible: true },
  ]);
});

test("Stop lets the agent say goodbye, then ends it; start works again.", () => {
  volunteer.start();
  volunteer.stop();
  expect(agent().told.at(-1)).toEqual({ kind: "stop" });
  expect(volunteer.snapshot.state).toEqual({ phase: "stopped" });
  agent().change(computing);
  expect(volunteer.snapshot.state).toEqual({ phase: "stopped" });
  expect(agent().isAlive).toBe(true);
  agent().say({ kind: "ended" });
  expect(agent().isAlive).toBe(false);
  volunteer.start();
  expect(FakeWorker.all).toHaveLength(2);
});

test("A pause keeps the trial, outlasts the page's visibility, and ends by hand.", () => {
  const kept = { phase: "paused", reason: "by_choice", kept: true };
  volunteer.start();
  agent().change(computing);
  volunteer.pause();
  volunteer.pause();
  expect(volunteer.snapshot.state).toEqual(kept);
  page.show("hidden");
  page.show("visible");
  agent().change(computing); // sent before it got the pause
  expect(volunteer.snapshot.state).toEqual(kept);
  const told = agent().told.slice(1);
  expect(told.length).toBeGreaterThan(0);
  expect(told.every((one) => one.kind === "visibility" && !one.visible)).toBe(true);
  volunteer.resume();
  volunteer.resume();
  expect(agent().told.slice(1 + told.length)).toEqual([{ kind: "visibility", visible: true }]);
  expect(volunteer.snapshot.state.phase).toBe("connecting");
  agent().change(computing);
  expect(volunteer.snapshot.state).toEqual(computing);
});

test("What is resumed while the page is hidden waits for the page.", () => {
  volunteer.start();
  volunteer.pause();
  page.show("hidden");
  volunteer.resume();
  expect(agent().told.at(-1)).toEqual({ kind: "visibility", visible: false });
  expect(volunteer.snapshot.state).toEqual({ phase: "paused", reason: "hidden" });
});

test("A paused volunteer can stop, and a new start is not paused.", () => {
  volunteer.start();
  volunteer.pause();
  volunteer.stop();
  expect(volunteer.snapshot.state).toEqual({ phase: "stopped" });
  volunteer.start();
  expect(agent(1).told).toEqual([
    {
      kind: "start",
      code: "CODE",
      visible: true,
      careful: false,
      gpuShare: 1,
      processorShare: 1,
      dataLimits: { study: null, dayLeft: null },
    },
  ]);
});

const nextTrial: VolunteerState = {
  ...computing,
  trial: { ...computing.trial, number: 1 },
};

test.each<[string, VolunteerState]>([
  ["nothing to do", { phase: "waiting", reason: "no_work" }],
  ["another trial", nextTrial],
])("The last trial's acknowledgement ends the work when %s follows.", (_, following) => {
  volunteer.start();
  agent().change(computing);
  volunteer.finish(true);
  expect(volunteer.snapshot.finishing).toBe(true);
  agent().change(computing);
  expect(volunteer.snapshot.state).toEqual(computing);
  agent().change(following, 2);
  expect(agent().told.at(-1)).toEqual({ kind: "stop" });
  expect(volunteer.snapshot.state).toEqual({ phase: "finished" });
  expect(volunteer.snapshot.finishing).toBe(false);
});

test("A last trial that was lost on its way is no finished one.", () => {
  volunteer.start();
  agent().change(computing);
  volunteer.finish(true);
  agent().change({ phase: "paused", reason: "hidden" });
  expect(volunteer.snapshot.state).toEqual({ phase: "stopped" });
});

test("Who changes their mind goes on.", () => {
  volunteer.start();
  agent().change(computing);
  volunteer.finish(true);
  volunteer.finish(false);
  agent().change(nextTrial, 2);
  expect(volunteer.snapshot).toMatchObject({ state: nextTrial, finishing: false });
});

test("Without a trial there is nothing to finish first.", () => {
  volunteer.start();
  volunteer.finish(true);
  expect(volunteer.snapshot.state).toEqual({ phase: "stopped" });
});

test("An agent that does not say goodbye is ended all the same.", () => {
  volunteer.start();
  volunteer.stop();
  vi.advanceTimersByTime(2_000);
  expect(agent().isAlive).toBe(false);
});

test.each<VolunteerState>([
  { phase: "replaced" },
  { phase: "failed", code: "banned", message: "No." },
])("After $phase the agent is ended, and start works again.", (state) => {
  volunteer.start();
  agent().change(state);
  expect(agent().isAlive).toBe(false);
  expect(volunteer.snapshot.state).toEqual(state);
  volunteer.start();
  expect(FakeWorker.all).toHaveLength(2);
});

test("A script that cannot be loaded is a failure.", () => {
  volunteer.start();
  agent().dispatchEvent(new Event("error", { cancelable: true }));
  expect(volunteer.snapshot.state).toMatchObject({ phase: "failed", code: "agent_failed" });
});

test("The screen stays on while the device takes part, also while it waits, and no longer.", async () => {
  expect(sentinels).toHaveLength(0);
  volunteer.start();
  agent().change(computing);
  agent().change(computing);
  await settled();
  expect(sentinels).toHaveLength(1);
  expect(volunteer.snapshot.awake).toBe(true);
  agent().change({ phase: "waiting", reason: "no_work" });
  expect(volunteer.snapshot.awake).toBe(true);
  volunteer.pause();
  await settled();
  expect(volunteer.snapshot.awake).toBe(false);
  volunteer.resume();
  await settled();
  expect(volunteer.snapshot.awake).toBe(true);
  volunteer.stop();
  await settled();
  expect(volunteer.snapshot.awake).toBe(false);
  expect(sentinels).toHaveLength(2);
});

test("A lock that the browser takes from a visible page is asked for again after a while.", async () => {
  volunteer.start();
  await settled();
  await sentinels[0]?.release();
  expect(volunteer.snapshot.awake).toBe(false);
  await vi.advanceTimersByTimeAsync(AGAIN_MS);
  expect(volunteer.snapshot.awake).toBe(true);
  expect(sentinels).toHaveLength(2);
});

const COMPUTER = "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36";
const locks = {
  request: (_name: string, _options: object, hold: (lock: object) => void) =>
    Promise.resolve(hold({})),
  query: async () => ({ held: [] }),
};

test("A computer goes on while the page is hidden, until it is measured that it cannot.", () => {
  vi.stubGlobal("navigator", { ...navigator, userAgent: COMPUTER, locks });
  volunteer = createVolunteer({ code: "CODE" });
  volunteer.start();
  agent().change(computing);
  page.show("hidden");
  expect(agent().told.slice(1)).toEqual([
    { kind: "visibility", visible: true },
    { kind: "background", computes: true },
  ]);
  expect(volunteer.snapshot.state).toEqual(computing);
  agent().say({ kind: "throttled" });
  expect(agent().told.slice(3)).toEqual([
    { kind: "visibility", visible: false },
    { kind: "background", computes: false },
  ]);
  page.show("visible");
  page.show("hidden");
  expect(agent().told.slice(5)).toEqual([
    { kind: "visibility", visible: true },
    { kind: "visibility", visible: false },
  ]);
});

test.each([
  ["a phone", { userAgent: "Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537.36" }],
  ["an iPad", { userAgent: "Mozilla/5.0 (Macintosh) Version/18 Safari/605", maxTouchPoints: 5 }],
  ["a computer without Web Locks", { locks: undefined }],
])("A hidden page computes nothing on %s.", (_device, facts) => {
  vi.stubGlobal("navigator", { ...navigator, userAgent: COMPUTER, locks, ...facts });
  volunteer = createVolunteer({ code: "CODE" });
  volunteer.start();
  page.show("hidden");
  expect(agent().told.slice(1)).toEqual([{ kind: "visibility", visible: false }]);
});

test("A lock that the browser took with the hidden page is asked for again.", async () => {
  volunteer.start();
  agent().change(computing);
  await settled();
  page.visibilityState = "hidden";
  await sentinels[0]?.release();
  expect(volunteer.snapshot.awake).toBe(false);
  page.show("visible");
  await settled();
  expect(volunteer.snapshot.awake).toBe(true);
});

const session = { kind: "session" as const, session: 12, authorization: "Device d:s" };

test("A page that goes away tells the server by a request that outlives it, once.", () => {
  volunteer.start();
  agent().say(session);
  agent().change(computing);
  windowEvents.dispatchEvent(new Event("pagehide"));
  windowEvents.dispatchEvent(new Event("pagehide"));
  expect(agent().told.at(-1)).toEqual({ kind: "left" });
  expect(requests).toMatchObject([
    ["/api/leave", { method: "POST", keepalive: true, body: '{"session":12}' }],
  ]);
  expect(new Headers(requests[0]?.[1].headers).get("authorization")).toBe("Device d:s");
});

test("A page that joined nothing, or stopped, has nothing to tell.", () => {
  windowEvents.dispatchEvent(new Event("pagehide"));
  volunteer.start();
  agent().say(session);
  volunteer.stop();
  windowEvents.dispatchEvent(new Event("pagehide"));
  expect(requests).toEqual([]);
});

test("A page that is frozen pauses within the event, also on a computer.", () => {
  vi.stubGlobal("navigator", { ...navigator, userAgent: COMPUTER, locks });
  volunteer = createVolunteer({ code: "CODE" });
  volunteer.start();
  page.dispatchEvent(new Event("freeze"));
  expect(agent().told).toContainEqual({ kind: "visibility", visible: false });
  page.dispatchEvent(new Event("resume"));
  expect(agent().told).toContainEqual({ kind: "visibility", visible: true });
});

test("After a tab that was killed the page says so, and asks for less memory.", async () => {
  volunteer.start();
  agent().change(computing); // and no event reports its end
  const next = createVolunteer({ code: "CODE" });
  await settled();
  expect(next.snapshot.state).toEqual({ phase: "idle" });
  expect(next.snapshot.interrupted).toEqual({
    during: "trial",
    study: 1,
    studyName: "s",
    number: 0,
  });
  next.start();
  expect(agent(1).told).toEqual([
    {
      kind: "start",
      code: "CODE",
      visible: true,
      careful: true,
      gpuShare: 1,
      processorShare: 1,
      dataLimits: { study: null, dayLeft: null },
    },
  ]);
});

test("After a page that was closed there is nothing to say.", async () => {
  volunteer.start();
  agent().change(computing);
  windowEvents.dispatchEvent(new Event("pagehide"));
  const next = createVolunteer({ code: "CODE" });
  await settled();
  expect(next.snapshot.interrupted).toBeNull();
});

test("A reload is no crash, though the browser says after `pagehide` that the page is hidden.", async () => {
  volunteer.start();
  agent().change(computing);
  windowEvents.dispatchEvent(new Event("pagehide"));
  page.show("hidden");
  agent().change(computing);
  const next = createVolunteer({ code: "CODE" });
  await settled();
  expect(next.snapshot.interrupted).toBeNull();
});

test("A page that comes out of the back/forward cache goes on, and its end is noticed again.", async () => {
  volunteer.start();
  agent().change(computing);
  windowEvents.dispatchEvent(new Event("pagehide"));
  page.show("hidden");
  page.show("visible");
  windowEvents.dispatchEvent(new Event("pageshow"));
  expect(agent().told.at(-1)).toEqual({ kind: "visibility", visible: true });
  agent().change(computing);
  const next = createVolunteer({ code: "CODE" });
  await settled();
  expect(next.snapshot.interrupted).toMatchObject({ during: "trial" });
});

test("A page that was dropped in the background is told apart, and not blamed for memory.", async () => {
  volunteer.start();
  agent().change(computing);
  page.show("hidden");
  const next = createVolunteer({ code: "CODE" });
  await settled();
  expect(next.snapshot.interrupted).toEqual({ during: "hidden" });
  page.show("visible");
  next.start();
  expect(agent(1).told).toEqual([
    {
      kind: "start",
      code: "CODE",
      visible: true,
      careful: false,
      gpuShare: 1,
      processorShare: 1,
      dataLimits: { study: null, dayLeft: null },
    },
  ]);
});

/** The lock manager of a browser in which another tab is open. */
class OtherTab {
  holds = true;
  #waiting: (() => void)[] = [];
  #steal: (() => void) | null = null;

  request = async (_: string, options: LockOptions, hold: (lock: Lock | null) => unknown) => {
    await Promise.resolve();
    if (options.ifAvailable && this.holds) return await hold(null);
    if (options.steal !== true && this.holds) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.holds = false;
    const stolen = new Promise((_resolve, reject) => {
      this.#steal = () => reject(new DOMException("Stolen.", "AbortError"));
    });
    return await Promise.race([hold({ name: "", mode: "exclusive" }), stolen]);
  };

  query = async () => ({ held: this.holds ? [{ name: "hyperflock.computing" }] : [] });

  takeOver(): void {
    this.holds = true;
    this.#steal?.();
  }

  end(): void {
    this.holds = false;
    for (const begin of this.#waiting.splice(0)) begin();
  }
}

function besideAnotherTab(): { other: OtherTab; here: Volunteer } {
  const other = new OtherTab();
  vi.stubGlobal("navigator", { locks: other });
  return { other, here: createVolunteer({ code: "CODE" }) };
}

test("While another tab computes this one says so, and takes over on a second tap.", async () => {
  const { here, other } = besideAnotherTab();
  here.start();
  await settled();
  expect(here.snapshot.state).toEqual({ phase: "elsewhere" });
  expect(FakeWorker.all).toHaveLength(0);
  here.start();
  await settled();
  expect(other.holds).toBe(false);
  expect(agent().told).toMatchObject([{ kind: "start" }]);
});

test("Once the other tab has ended this one can start as ever.", async () => {
  const { here, other } = besideAnotherTab();
  here.start();
  await settled();
  other.end();
  await settled();
  expect(here.snapshot.state).toEqual({ phase: "idle" });
});

test("A tab that is taken over gives its trial back and says who computes.", async () => {
  const { here, other } = besideAnotherTab();
  other.end();
  here.start();
  await settled();
  agent().change(computing);
  other.takeOver();
  await settled();
  expect(agent().told.at(-1)).toEqual({ kind: "stop" });
  expect(here.snapshot.state).toEqual({ phase: "replaced" });
});

test("Another tab's note of what it computes is no news of a killed one.", async () => {
  volunteer.start();
  agent().change(computing);
  const { here } = besideAnotherTab();
  await settled();
  expect(here.snapshot.interrupted).toBeNull();
});

test("Who stops before the lock is there starts nothing.", async () => {
  const { here, other } = besideAnotherTab();
  other.end();
  here.start();
  here.stop();
  await settled();
  expect(here.snapshot.state).toEqual({ phase: "stopped" });
  expect(FakeWorker.all).toHaveLength(0);
});

/** A browser with Compute Pressure. */
class FakePressure {
  static readonly knownSources = ["cpu"];
  static tell: (records: readonly { readonly state: string }[]) => void = () => {};

  constructor(tell: (records: readonly { readonly state: string }[]) => void) {
    FakePressure.tell = tell;
  }

  async observe(): Promise<void> {}
}

test("Under pressure, trials get less of what the volunteer lends, but not while another window has the focus.", async () => {
  let hasFocus = true;
  Object.assign(page, { hasFocus: () => hasFocus });
  vi.stubGlobal("PressureObserver", FakePressure);
  volunteer = createVolunteer({ code: "CODE" });
  volunteer.setLimits({ ...NO_LIMITS, processorShare: 0.5 });
  volunteer.start();
  await settled();
  agent().change(computing);
  FakePressure.tell([{ state: "fair" }, { state: "serious" }]);
  expect(agent().told.at(-1)).toEqual({ kind: "processor_share", share: 0.25 });
  expect(volunteer.snapshot).toMatchObject({
    state: { phase: "computing" },
    cooling: { cause: "pressure", share: 0.5 },
  });
  hasFocus = false;
  windowEvents.dispatchEvent(new Event("blur"));
  expect(agent().told.at(-1)).toEqual({ kind: "processor_share", share: 0.5 });
  hasFocus = true;
  windowEvents.dispatchEvent(new Event("focus"));
  expect(volunteer.snapshot.cooling?.share).toBe(0.5);
  FakePressure.tell([{ state: "a new one" }]);
  expect(volunteer.snapshot.cooling).toBeNull();
  const told = agent().told.map(({ kind }) => kind);
  expect(told).not.toContain("stop");
  expect(told.filter((kind) => kind === "visibility")).toEqual([]);
});

test("A device that becomes slow gets rests, and a new start gets the share of that moment.", async () => {
  volunteer.start();
  await settled();
  agent().change(computing);
  let clock = performance.now();
  const pass = (seconds: number, pace: number) => {
    for (let second = 0; second < seconds; second += 2) {
      clock += 2_000;
      vi.spyOn(performance, "now").mockReturnValue(clock);
      agent().say({ kind: "pace", pace });
    }
  };
  pass(300, 4);
  pass(90, 1);
  expect(volunteer.snapshot.cooling).toEqual({ cause: "heat", share: 0.5 });
  expect(agent().told.at(-1)).toEqual({ kind: "processor_share", share: 0.5 });
  volunteer.stop();
  volunteer.start();
  await settled();
  expect(agent(1).told[0]).toMatchObject({ kind: "start", processorShare: 0.5 });
});

test("The agent learns what may still be fetched, at the start and after each fetch.", async () => {
  volunteer.setLimits({ ...NO_LIMITS, dataADay: 50e6, dataAStudy: 20e6 });
  volunteer.start();
  await settled();
  expect(agent().told[0]).toMatchObject({ dataLimits: { study: 20e6, dayLeft: 50e6 } });
  agent().change(computing);
  agent().say({ kind: "fetched", bytes: 60e6 });
  expect(agent().told.at(-1)).toEqual({
    kind: "data_limits",
    limits: { study: 20e6, dayLeft: 0 },
  });
  expect(volunteer.snapshot.state.phase).toBe("computing");
  agent().change({ phase: "waiting", reason: "no_work" });
  expect(volunteer.snapshot.state).toEqual({ phase: "paused", reason: "data_used" });
  volunteer.setLimits({ ...NO_LIMITS, dataADay: 1e9 });
  expect(agent().told.at(-1)).toEqual({ kind: "visibility", visible: true });
  expect(agent().told).toContainEqual({
    kind: "data_limits",
    limits: { study: null, dayLeft: 940e6 },
  });
});

test("Forgetting ends the work first, and what was contributed is not shown any more.", () => {
  volunteer.start();
  agent().change(computing, 3);
  volunteer.forget();
  volunteer.forget();
  expect(agent(0).told.at(-1)).toEqual({ kind: "stop" });
  expect(FakeWorker.all).toHaveLength(2);
  expect(agent(1).told).toEqual([{ kind: "forget", code: "CODE" }]);
  expect(volunteer.snapshot.state).toEqual({ phase: "forgetting" });
  volunteer.start(); // has no effect while it forgets
  expect(FakeWorker.all).toHaveLength(2);
  agent(1).say({ kind: "forgotten", done: true });
  expect(volunteer.snapshot).toMatchObject({
    state: { phase: "forgotten" },
    contribution: { trials: 0, seconds: 0 },
  });
  expect(agent(1).isAlive).toBe(false);
  volunteer.start();
  expect(agent(2).told[0]).toMatchObject({ kind: "start" });
});

test("A server that could not be told may be asked again.", () => {
  volunteer.forget();
  agent().say({ kind: "forgotten", done: false });
  expect(volunteer.snapshot.state).toEqual({ phase: "not_forgotten" });
  volunteer.forget();
  expect(agent(1).told).toEqual([{ kind: "forget", code: "CODE" }]);
});
