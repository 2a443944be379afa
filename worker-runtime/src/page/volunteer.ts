// The page's handle on the volunteer's work: starts the agent thread after a tap and passes its state on. Runs on the page
// thread; every call returns at once.
//
//     const volunteer = createVolunteer({ code });
//     volunteer.subscribe((snapshot) => render(snapshot));
//     button.onclick = () => volunteer.start();

import type { FromAgent, ToAgent } from "./messages.ts";
import { type ProbeScope, probe } from "./probe.ts";
import type { Volunteer, VolunteerSnapshot, VolunteerState } from "./volunteer_state.ts";
import { WakeLock } from "./wake_lock.ts";

export interface VolunteerOptions {
  /** The enrolment code of the join link. */
  readonly code: string;
}

/** An agent that does not say that it has ended is ended. */
const kFarewellMs = 2_000;

export function createVolunteer(options: VolunteerOptions): Volunteer {
  return new AgentVolunteer(options.code);
}

class AgentVolunteer implements Volunteer {
  readonly #code: string;
  readonly #wakeLock = new WakeLock(() => this.#merge({ awake: this.#wakeLock.isHeld }));
  readonly #listeners = new Set<(snapshot: VolunteerSnapshot) => void>();
  #agent: Worker | null = null;
  #isFramePending = false;
  #snapshot: VolunteerSnapshot = {
    state: { phase: "idle" },
    contribution: { trials: 0, seconds: 0 },
    project: null,
    awake: false,
  };

  constructor(code: string) {
    this.#code = code;
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
    this.#setState({ phase: "joining" });
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
      this.#leave(agent);
      const message = event.message || "The worker's script could not be loaded.";
      this.#setState({ phase: "failed", code: "agent_failed", message });
      agent.terminate();
    });
    const visible = document.visibilityState === "visible";
    this.#tell({ kind: "start", code: this.#code, visible });
  }

  stop(): void {
    const agent = this.#agent;
    if (agent === null) return;
    this.#tell({ kind: "stop" });
    this.#leave(agent);
    this.#setState({ phase: "stopped" });
    // It gives its trial back meanwhile and then says that it has ended.
    setTimeout(() => agent.terminate(), kFarewellMs);
  }

  #onMessage(message: FromAgent): void {
    switch (message.kind) {
      case "changed": {
        const { state, contribution, project } = message;
        this.#merge({ contribution, project });
        this.#setState(state);
        this.#endWhenOver(state);
        break;
      }
      case "ended":
        break;
      default:
        message satisfies never;
    }
  }

  /** After these the agent has nothing left to do; a new start makes a new one. */
  #endWhenOver(state: VolunteerState): void {
    if (state.phase !== "replaced" && state.phase !== "failed") return;
    this.#agent?.terminate();
    this.#agent = null;
  }

  #leave(agent: Worker): void {
    if (this.#agent === agent) this.#agent = null;
  }

  #onVisibility(): void {
    // Posted within the event: a hidden page may be frozen at any moment after it.
    this.#tell({ kind: "visibility", visible: document.visibilityState === "visible" });
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
