// The page's handle on the volunteer's work: starts the agent thread after a tap and passes its state on. Runs on the page
// thread; every call returns at once.
//
//     const volunteer = createVolunteer({ code });
//     volunteer.subscribe((snapshot) => render(snapshot));
//     button.onclick = () => volunteer.start();

import { NO_DATA_LIMITS } from "../governor/data_limits.ts";
import type { PausingRule } from "../governor/governor.ts";
import type { Limits } from "../governor/limits.ts";
import type { FromAgent, ToAgent } from "../page_contract/messages.ts";
import { type ProbeScope, probe } from "../page_contract/probe.ts";
import type {
  PauseReason,
  TrialView,
  Volunteer,
  VolunteerSnapshot,
  VolunteerState,
} from "../page_contract/volunteer_state.ts";
import { mayComputeHidden } from "./background.ts";
import { browserSensors } from "./browser_sensors.ts";
import { GovernorHost } from "./governor_host.ts";
import { LastVisit } from "./last_visit.ts";
import { TabLock } from "./tab_lock.ts";
import { WakeLock } from "./wake_lock.ts";

export interface VolunteerOptions {
  /** The enrolment code of the join link. */
  readonly code: string;
}

/** The time in which an agent that was told to stop may end by itself. */
const FAREWELL_MS = 2_000;

/** The wish to stop after the running trial, and the number of finished trials when the volunteer decided it. */
interface LastTrial {
  readonly study: number;
  readonly number: number;
  readonly doneBefore: number;
}

/** The number and the authorization by which the page can end the agent's session at the server. */
type Session = Extract<FromAgent, { kind: "session" }>;

/** Accesses `localStorage` only inside each call, because the access throws if the browser blocks cookies. */
const local = {
  getItem: (key: string) => localStorage.getItem(key),
  setItem: (key: string, value: string) => localStorage.setItem(key, value),
  removeItem: (key: string) => localStorage.removeItem(key),
};

/** The phases in which the device takes part and is not paused. */
const AT_WORK: ReadonlySet<VolunteerState["phase"]> = new Set([
  "joining",
  "connecting",
  "waiting",
  "loading",
  "computing",
  "delivering",
]);

/** Returns a pause. `before` says whether the agent still has a trial. */
function pauseOf(reason: PauseReason, before: VolunteerState): VolunteerState {
  const isKept =
    runningTrial(before) !== null || (before.phase === "paused" && before.kept === true);
  return { phase: "paused", reason, ...(isKept ? { kept: true } : {}) };
}

function runningTrial(state: VolunteerState): TrialView | null {
  return "trial" in state ? state.trial : null;
}

export function createVolunteer(options: VolunteerOptions): Volunteer {
  return new AgentVolunteer(options.code);
}

class AgentVolunteer implements Volunteer {
  readonly #code: string;
  readonly #wakeLock = new WakeLock(() => this.#merge({ awake: this.#wakeLock.isHeld }));
  readonly #listeners = new Set<(snapshot: VolunteerSnapshot) => void>();
  readonly #lock = new TabLock(navigator.locks);
  readonly #visit = new LastVisit(local);
  readonly #governor = new GovernorHost(browserSensors(local), () => this.#onGovernor());
  #agent: Worker | null = null;
  #gpuShare = 1;
  #processorShare = 1;
  /** The part of the processor's time that trials get now. */
  #share = 1;
  #dataLimits = NO_DATA_LIMITS;
  /** The rule at the last change of the governor. */
  #rule: PausingRule | null = null;
  /** Whether a start has requested the lock and waits for it. */
  #isStarting = false;
  #session: Session | null = null;
  #isFramePending = false;
  #isPaused = false;
  /** Whether the browser has frozen the page. A frozen page is hidden, and computes nothing on any device. */
  #isFrozen = false;
  /** Whether this device goes on computing while the page is hidden. */
  #computesHidden = mayComputeHidden(navigator);
  #watchesBackground = false;
  #last: LastTrial | null = null;
  #snapshot: VolunteerSnapshot;

  constructor(code: string) {
    this.#code = code;
    // The features are checked before the volunteer can tap Start. So nobody starts in a browser that cannot compute.
    const reason = probe(globalThis as ProbeScope);
    this.#snapshot = {
      state: reason === null ? { phase: "idle" } : { phase: "unsupported", reason },
      contribution: { trials: 0, seconds: 0 },
      project: null,
      awake: false,
      interrupted: null,
      finishing: false,
      cooling: null,
    };
    document.addEventListener("visibilitychange", () => this.#onVisibility());
    // Chromium sends this event before it freezes a page. A frozen page may run no code for a long time.
    document.addEventListener("freeze", () => this.#setFrozen(true));
    document.addEventListener("resume", () => this.#setFrozen(false));
    addEventListener("pagehide", () => this.#onPageHide());
    addEventListener("pageshow", () => this.#onPageShow());
    this.#readLastVisit();
  }

  get snapshot(): VolunteerSnapshot {
    return this.#snapshot;
  }

  subscribe(listener: (snapshot: VolunteerSnapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    if (this.#agent !== null || this.#isStarting) return;
    const reason = probe(globalThis as ProbeScope);
    if (reason !== null) {
      this.#setState({ phase: "unsupported", reason });
      return;
    }
    const { phase } = this.#snapshot.state;
    const takesOver = phase === "elsewhere" || phase === "replaced";
    this.#isPaused = false;
    this.#isStarting = true;
    this.#setState({ phase: "joining" });
    this.#lock.take(takesOver ? "by_force" : "if_free", {
      taken: () => this.#onLockTaken(),
      refused: () => this.#onLockRefused(),
      lost: () => this.#stop("replaced"),
    });
  }

  #onLockTaken(): void {
    if (!this.#isStarting) {
      this.#lock.release(); // The volunteer stopped while the lock was asked for.
      return;
    }
    this.#isStarting = false;
    this.#startAgent();
  }

  #onLockRefused(): void {
    if (!this.#isStarting) return;
    this.#isStarting = false;
    this.#setState({ phase: "elsewhere" });
    this.#lock.whenFree(() => {
      if (this.#snapshot.state.phase === "elsewhere") this.#setState({ phase: "idle" });
    });
  }

  #startAgent(): void {
    this.#visit.begin();
    this.#governor.start();
    this.#dataLimits = this.#governor.dataLimits;
    this.#employ();
    const careful = this.#snapshot.interrupted?.during === "trial";
    this.#tell({
      kind: "start",
      code: this.#code,
      visible: this.#mayCompute,
      careful,
      gpuShare: this.#gpuShare,
      processorShare: this.#share,
      dataLimits: this.#dataLimits,
    });
    const { rule } = this.#governor;
    this.#rule = rule;
    if (rule !== null) this.#setState({ phase: "paused", reason: rule });
  }

  /** Starts an agent thread and listens to its messages. */
  #employ(): void {
    const agent = new Worker(new URL("../agent/agent-thread.ts", import.meta.url), {
      type: "module",
      name: "hyperflock agent",
    });
    this.#agent = agent;
    agent.addEventListener("message", (event: MessageEvent<FromAgent>) => {
      if (this.#agent === agent) this.#onMessage(event.data);
      else if (event.data.kind === "ended") agent.terminate();
    });
    agent.addEventListener("error", (event) => {
      if (this.#agent !== agent) return;
      event.preventDefault();
      this.#leave();
      const message = event.message || "The worker's script could not be loaded.";
      this.#setState({ phase: "failed", code: "agent_failed", message });
      agent.terminate();
    });
  }

  forget(): void {
    if (this.#snapshot.state.phase === "forgetting") return;
    this.stop();
    this.#setState({ phase: "forgetting" });
    this.#employ();
    this.#tell({ kind: "forget", code: this.#code });
  }

  pause(): void {
    if (this.#agent === null || this.#isPaused) return;
    this.#isPaused = true;
    this.#setLast(null);
    this.#tellVisibility();
    this.#showPause("by_choice");
  }

  resume(): void {
    if (this.#agent === null || !this.#isPaused) return;
    this.#isPaused = false;
    this.#tellVisibility();
    this.#goOn();
  }

  /** Shows what follows a pause: the next pause, or the connection. */
  #goOn(): void {
    // A trial that was kept is shown when the agent reports it, a moment later.
    if (this.#mayCompute) this.#setState({ phase: "connecting", attempt: 0, retryAt: null });
    else this.#showPause(this.#governor.rule ?? "hidden");
  }

  /** Shows a pause. A trial that runs is kept at first; the agent reports when it is given back. */
  #showPause(reason: PauseReason): void {
    this.#setState(pauseOf(reason, this.#snapshot.state));
  }

  /** One of the volunteer's limits begins or ends to pause this device, or a cooling begins, changes or ends. */
  #onGovernor(): void {
    this.#setShare();
    this.#setDataLimits();
    this.#merge({ cooling: this.#governor.cooling });
    if (this.#agent === null || this.#governor.rule === this.#rule) return;
    this.#rule = this.#governor.rule;
    this.#tellVisibility();
    if (this.#isPaused) return;
    if (this.#governor.rule !== null) this.#setLast(null);
    this.#goOn();
  }

  finish(wanted: boolean): void {
    if (this.#agent === null) return;
    if (!wanted) {
      this.#setLast(null);
      return;
    }
    const trial = runningTrial(this.#snapshot.state);
    if (trial === null) {
      this.stop();
      return;
    }
    const { study, number } = trial;
    this.#setLast({ study, number, doneBefore: this.#snapshot.contribution.trials });
  }

  setGpuShare(share: number): void {
    this.#gpuShare = share;
    if (this.#agent !== null) this.#tell({ kind: "gpu_share", share });
  }

  setLimits(limits: Limits): void {
    this.#governor.setLimits(limits);
    this.#processorShare = limits.processorShare;
    this.#setShare();
  }

  #setDataLimits(): void {
    const limits = this.#governor.dataLimits;
    const { study, dayLeft } = this.#dataLimits;
    if (limits.study === study && limits.dayLeft === dayLeft) return;
    this.#dataLimits = limits;
    this.#tell({ kind: "data_limits", limits });
  }

  /** Tells the agent what trials get of the processor's time: of the lent part, what a cooling leaves. */
  #setShare(): void {
    const share = this.#processorShare * (this.#governor.cooling?.share ?? 1);
    if (share === this.#share) return;
    this.#share = share;
    this.#tell({ kind: "processor_share", share });
  }

  stop(): void {
    this.#stop("stopped");
  }

  #stop(phase: "stopped" | "finished" | "replaced"): void {
    const agent = this.#agent;
    if (agent === null) {
      if (this.#isStarting) this.#setState({ phase });
      this.#isStarting = false;
      return;
    }
    this.#tell({ kind: "stop" });
    this.#leave();
    this.#setState({ phase });
    // Until this timer ends the agent's thread, the agent can release its trial and report its end.
    setTimeout(() => agent.terminate(), FAREWELL_MS);
  }

  #onMessage(message: FromAgent): void {
    switch (message.kind) {
      case "changed": {
        const { state, contribution, project } = message;
        this.#merge({ contribution, project });
        this.#onState(state);
        break;
      }
      case "unsupported":
        this.#onEnd({ phase: "unsupported", reason: message.reason });
        break;
      case "session":
        this.#session = message;
        break;
      case "throttled":
        this.#computesHidden = false;
        this.#onVisibility();
        break;
      case "fetched":
        this.#governor.addFetched(message.bytes);
        break;
      case "pace":
        this.#governor.setPace(message.pace);
        break;
      case "forgotten":
        this.#agent?.terminate();
        this.#leave();
        if (message.done) this.#merge({ contribution: { trials: 0, seconds: 0 } });
        this.#setState({ phase: message.done ? "forgotten" : "not_forgotten" });
        break;
      case "ended":
        break;
      default:
        message satisfies never;
    }
  }

  #onState(state: VolunteerState): void {
    if (state.phase === "replaced" || state.phase === "failed") {
      this.#onEnd(state);
    } else if (this.#isPaused) {
      this.#setState(pauseOf("by_choice", state));
    } else if (this.#governor.rule !== null) {
      // To the agent, every pause is a hidden page.
      this.#setState(pauseOf(this.#governor.rule, state));
    } else if (this.#last !== null && !this.#isLast(runningTrial(state))) {
      const delivered = this.#snapshot.contribution.trials > this.#last.doneBefore;
      this.#stop(delivered ? "finished" : "stopped");
    } else {
      this.#setState(state);
    }
  }

  /** The agent has no more work. A new start makes a new agent. */
  #onEnd(state: VolunteerState): void {
    this.#agent?.terminate();
    this.#leave();
    this.#setState(state);
  }

  #isLast(trial: TrialView | null): boolean {
    return trial?.study === this.#last?.study && trial?.number === this.#last?.number;
  }

  #leave(): void {
    this.#agent = null;
    this.#session = null;
    this.#lock.release();
    this.#governor.stop();
    this.#isPaused = false;
    this.#setLast(null);
  }

  #setLast(last: LastTrial | null): void {
    this.#last = last;
    this.#merge({ finishing: last !== null });
  }

  /** Whether the agent may compute. Every pause has the effect of a hidden page: the trial is kept for a while. */
  get #mayCompute(): boolean {
    const isHere = document.visibilityState === "visible" || this.#computesHidden;
    return !this.#isPaused && this.#governor.rule === null && isHere && !this.#isFrozen;
  }

  #tellVisibility(): void {
    const visible = this.#mayCompute;
    this.#tell({ kind: "visibility", visible });
    if (!this.#computesHidden && !this.#watchesBackground) return;
    this.#watchesBackground = visible && document.visibilityState === "hidden";
    this.#tell({ kind: "background", computes: this.#watchesBackground });
  }

  #setFrozen(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    this.#tellVisibility();
  }

  #onVisibility(): void {
    // The message is posted before this event handler returns, because a hidden page may be frozen at any later moment.
    this.#tellVisibility();
    const isHidden = document.visibilityState === "hidden";
    if (this.#agent !== null && isHidden && !this.#isPaused && !this.#mayCompute) {
      this.#visit.note({ phase: "paused", reason: "hidden" });
    }
    this.#wakeLock.refresh();
  }

  /** Sends a request that the browser delivers after the page is gone. The agent may have no time to send anything. */
  #onPageHide(): void {
    this.#visit.close();
    this.#tell({ kind: "left" });
    const session = this.#session;
    this.#session = null;
    if (session === null) return;
    fetch("/api/leave", {
      method: "POST",
      headers: { authorization: session.authorization, "content-type": "application/json" },
      body: JSON.stringify({ session: session.session }),
      credentials: "omit",
      keepalive: true,
    }).catch(() => {});
  }

  /** The browser shows the page at first, or again from its back/forward cache; then the agent may go on. */
  #onPageShow(): void {
    this.#isFrozen = false;
    this.#visit.reopen();
    this.#tellVisibility();
  }

  #readLastVisit(): void {
    const interrupted = this.#visit.read();
    if (interrupted === null) return;
    void this.#lock.isTaken().then((isTaken) => {
      // If another tab computes now, that tab has written the note of LastVisit, and no visit was interrupted.
      if (!isTaken) this.#merge({ interrupted });
    });
  }

  #tell(message: ToAgent): void {
    this.#agent?.postMessage(message);
  }

  #setState(state: VolunteerState): void {
    this.#merge({ state });
    this.#visit.note(state);
    // Also while the device waits for work or for the server: a phone that is left overnight must not fall asleep.
    this.#wakeLock.want(AT_WORK.has(state.phase));
    // The minutes of the day may be used up, and then this sets the next state.
    this.#governor.setBusy(state.phase === "loading" || state.phase === "computing");
  }

  #merge(change: Partial<VolunteerSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    if (this.#isFramePending) return;
    this.#isFramePending = true;
    requestAnimationFrame(() => {
      this.#isFramePending = false;
      for (const listener of this.#listeners) listener(this.#snapshot);
    });
  }
}
