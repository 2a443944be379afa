// Drives a Machine in tests. The test sets the clock, sends the server's messages, and reads which actions the machine
// took. Test thread.

import type { ClientMessage, Lease, ServerMessage } from "../../protocol/index.ts";
import type { AgentAction, AgentEvent } from "./events.ts";
import { Machine } from "./machine.ts";
import type { Outcome } from "./outcome.ts";

export const HEARTBEAT_MS = 10_000;
export const DEVICE = { device: "d_1", secret: "hfd_1" };
export const COMPLETE: Outcome = { outcome: "complete", values: [0.5] };

export function leaseOf(attempt: number, change: Partial<Lease> = {}): Lease {
  return {
    attempt,
    study: 3,
    trial: 1,
    kind: "primary",
    study_name: "digits",
    owner: "ada",
    total: 8,
    params: '{"rate":1.0}',
    seed: 7,
    entry: "digits:objective",
    bundle: { sha256: "b".repeat(64), bytes: 10 },
    data: [],
    runtime: { chainer: "7.8.1" },
    time_limit_ms: 0,
    lease_ms: 45_000,
    ...change,
  };
}

export class Scenario {
  readonly machine: Machine;
  now = 1_000;
  progress = 0;
  isParked = false;
  #actions: AgentAction[] = [];

  /** `random` says which part of each random pause the machine waits; 1 is the longest pause. */
  constructor(random = 1) {
    this.machine = new Machine({
      agent: "test/1",
      capabilities: () => ({
        backends: ["cpu"],
        memory_mb: 0,
        cores: 2,
        engine: "test 1",
        class: "desktop",
      }),
      random: () => random,
      readProgress: () => this.progress,
      readParked: () => this.isParked,
    });
  }

  /** The actions since this property, `sent` or `deeds` was last read. */
  get actions(): AgentAction[] {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  /** The messages among `actions`. */
  get sent(): ClientMessage[] {
    return this.actions.flatMap((action) => (action.kind === "send" ? [action.message] : []));
  }

  /** The actions among `actions` that send no message. */
  get deeds(): AgentAction[] {
    return this.actions.filter((action) => action.kind !== "send");
  }

  on(event: AgentEvent): this {
    this.#actions.push(...this.machine.handle(event, this.now));
    return this;
  }

  hear(...messages: ServerMessage[]): this {
    for (const message of messages) this.on({ kind: "message", message });
    return this;
  }

  /** Lets time pass. The machine gets a tick at each of its deadlines. */
  after(ms: number): this {
    const end = this.now + ms;
    for (let ticks = 0; ; ticks += 1) {
      const deadline = this.machine.nextDeadline();
      if (deadline === null || deadline > end) break;
      if (ticks > 1_000) throw new Error("The machine asks for ticks without end.");
      this.now = Math.max(this.now, deadline);
      this.on({ kind: "tick" });
    }
    this.now = end;
    return this;
  }

  started(): this {
    return this.on({ kind: "start", device: DEVICE, visible: true });
  }

  welcome(attempts: number[] = []): this {
    return this.hear({
      type: "welcome",
      protocol: 1,
      session: 1,
      server: "0.1.0",
      heartbeat_ms: HEARTBEAT_MS,
      lease_ms: 45_000,
      attempts,
    });
  }

  /** Connects the machine, up to its first `ready`, and forgets the actions. */
  connected(): this {
    this.started().on({ kind: "opened" }).welcome();
    this.#actions = [];
    return this;
  }

  lease(attempt: number, change: Partial<Lease> = {}): this {
    return this.hear({ type: "lease", lease: leaseOf(attempt, change) });
  }

  /** Connects the machine, lets it compute this attempt, and forgets the actions. */
  running(attempt: number, change: Partial<Lease> = {}): this {
    this.connected().lease(attempt, change).on({ kind: "running", attempt });
    this.#actions = [];
    return this;
  }

  reconnected(attempts: number[]): this {
    return this.after(1_000).on({ kind: "opened" }).welcome(attempts);
  }

  outcome(attempt: number, outcome: Outcome = COMPLETE): this {
    const by = { backend: "numpy", software: "worker/1" };
    return this.on({ kind: "outcome", attempt, outcome, runMs: 1_500, ...by });
  }

  report(attempt: number, step: number, value = 0.5): this {
    return this.on({ kind: "report", attempt, step, value });
  }

  log(attempt: number, step: number, values: Readonly<Record<string, number | "NaN">>): this {
    return this.on({ kind: "log", attempt, row: { step, values: Object.entries(values) } });
  }

  call(attempt: number, sequence: number, step = 0): this {
    const asked = { method: "should_prune" as const, args: { step } };
    return this.on({ kind: "call", attempt, sequence, asked });
  }

  suggest(attempt: number, sequence: number, name = "rate"): this {
    const asked = { method: "suggest" as const, args: { name, distribution: "{}" } };
    return this.on({ kind: "call", attempt, sequence, asked });
  }
}
