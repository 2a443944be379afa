// The page's handle on the volunteer's work: starts the agent thread after a tap and passes its state on. Runs on the page
// thread; every call returns at once.
//
//     const volunteer = createVolunteer({ code });
//     volunteer.subscribe((snapshot) => render(snapshot));
//     button.onclick = () => volunteer.start();

import type { FromAgent, ToAgent } from "./messages.ts";
import { type ProbeScope, probe } from "./probe.ts";
import type { TrialView, Volunteer, VolunteerSnapshot, VolunteerState } from "./volunteer_state.ts";
import { WakeLock } from "./wake_lock.ts";

export interface VolunteerOptions {
  /** The enrolment code of the join link. */
  readonly code: string;
}

/** An agent that does not say that it has ended is ended. */
const kFarewellMs = 2_000;

/** The trial after which the volunteer stops, and how many were done when that was decided. */
interface LastTrial {
  readonly study: number;
  readonly number: number;
  readonly doneBefore: number;
}

function runningTrial(state: VolunteerState): TrialView | null {
  return state.phase === "loading" || state.phase === "computing" ? state.trial : null;
}

export function createVolunteer(options: VolunteerOptions): Volunteer {
  return new AgentVolunteer(options.code);
}

class AgentVolunteer implements Volunteer {
  readonly #code: string;
  readonly #wakeLock = new WakeLock(() => this.#merge({ awake: this.#wakeLock.isHeld }));
  readonly #listeners = new Set<(snapshot: VolunteerSnapshot) => void>();
  #agent: Worker | null = null;
  #isFramePending = false;
  #isPaused = false;
  #last: LastTrial | null = null;
  #snapshot: VolunteerSnapshot;

  constructor(code: string) {
    this.#code = code;
    // Probed before the tap as well: nobody should tap to learn that it cannot work.
    const reason = probe(globalThis as ProbeScope);
    this.#snapshot = {
      state: reason === null ? { phase: "idle" } : { phase: "unsupported", reason },
      contribution: { trials: 0, seconds: 0 },
      project: null,
      awake: false,
      finishing: false,
    };
    document.addEventListener("visibilitychange", () => this.#onVisibility());
  }

  get snapshot(): VolunteerSnapshot {
    return this.#snapshot;
  }

  subscribe(listener: (snapshot: VolunteerSnapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    if (this.#agent !== null) return;
    const reason = probe(globalThis as ProbeScope);
    if (reason !== null) {
      this.#setState({ phase: "unsupported", reason });
      return;
    }
    this.#isPaused = false;
    this.#setState({ phase: "joining" });
    this.#employ();
    this.#tell({ kind: "start", code: this.#code, visible: this.#mayCompute });
  }

  /** Starts an agent thread and listens to it. */
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
    this.#setState({ phase: "paused", reason: "by_choice" });
  }

  resume(): void {
    if (this.#agent === null || !this.#isPaused) return;
    this.#isPaused = false;
    this.#tellVisibility();
    this.#setState(
      this.#mayCompute
        ? { phase: "connecting", attempt: 0, retryAt: null }
        : { phase: "paused", reason: "hidden" },
    );
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

  stop(): void {
    this.#stop("stopped");
  }

  #stop(phase: "stopped" | "finished"): void {
    const agent = this.#agent;
    if (agent === null) return;
    this.#tell({ kind: "stop" });
    this.#leave();
    this.#setState({ phase });
    // It gives its trial back meanwhile and then says that it has ended.
    setTimeout(() => agent.terminate(), kFarewellMs);
  }

  #onMessage(message: FromAgent): void {
    switch (message.kind) {
      case "changed": {
        const { state, contribution, project } = message;
        this.#merge({ contribution, project });
        this.#onState(state);
        break;
      }
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
      // The agent has nothing left to do; a new start makes a new one.
      this.#agent?.terminate();
      this.#leave();
      this.#setState(state);
    } else if (this.#isPaused) {
      // What it did before it heard of the pause is no news any more.
      this.#setState({ phase: "paused", reason: "by_choice" });
    } else if (this.#last !== null && !this.#isLast(runningTrial(state))) {
      const delivered = this.#snapshot.contribution.trials > this.#last.doneBefore;
      this.#stop(delivered ? "finished" : "stopped");
    } else {
      this.#setState(state);
    }
  }

  #isLast(trial: TrialView | null): boolean {
    return trial?.study === this.#last?.study && trial?.number === this.#last?.number;
  }

  #leave(): void {
    this.#agent = null;
    this.#isPaused = false;
    this.#setLast(null);
  }

  #setLast(last: LastTrial | null): void {
    this.#last = last;
    this.#merge({ finishing: last !== null });
  }

  /** A pause is told as a hidden page: the trial goes back at once, and nothing is asked for. */
  get #mayCompute(): boolean {
    return !this.#isPaused && document.visibilityState === "visible";
  }

  #tellVisibility(): void {
    this.#tell({ kind: "visibility", visible: this.#mayCompute });
  }

  #onVisibility(): void {
    // Posted within the event: a hidden page may be frozen at any moment after it.
    this.#tellVisibility();
    this.#wakeLock.refresh();
  }

  #tell(message: ToAgent): void {
    this.#agent?.postMessage(message);
  }

  #setState(state: VolunteerState): void {
    this.#merge({ state });
    this.#wakeLock.want(state.phase === "loading" || state.phase === "computing");
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
