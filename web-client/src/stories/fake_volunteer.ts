// A volunteer that computes nothing. It shows the state of a story and records which buttons were pressed. Page thread;
// stories and tests only.

import type { Limits, Volunteer, VolunteerSnapshot } from "@hyperflock/worker-runtime/page";

export class FakeVolunteer implements Volunteer {
  readonly calls: ("start" | "pause" | "resume" | "finish" | "stop" | "forget")[] = [];
  gpuShare = 1;
  limits: Limits | null = null;
  #snapshot: VolunteerSnapshot;
  readonly #listeners = new Set<(snapshot: VolunteerSnapshot) => void>();
  readonly #afterStart: VolunteerSnapshot["state"];

  constructor(snapshot: VolunteerSnapshot, afterStart: VolunteerSnapshot["state"]) {
    this.#snapshot = snapshot;
    this.#afterStart = afterStart;
  }

  get snapshot(): VolunteerSnapshot {
    return this.#snapshot;
  }

  subscribe(listener: (snapshot: VolunteerSnapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    this.calls.push("start");
    this.show({ state: this.#afterStart });
  }

  pause(): void {
    this.calls.push("pause");
    this.show({ state: { phase: "paused", reason: "by_choice" } });
  }

  resume(): void {
    this.calls.push("resume");
    this.show({ state: this.#afterStart });
  }

  finish(wanted: boolean): void {
    this.calls.push("finish");
    this.show({ finishing: wanted });
  }

  setGpuShare(share: number): void {
    this.gpuShare = share;
  }

  setLimits(limits: Limits): void {
    this.limits = limits;
  }

  stop(): void {
    this.calls.push("stop");
    this.show({ state: { phase: "stopped" } });
  }

  forget(): void {
    this.calls.push("forget");
    this.show({ state: { phase: "forgetting" } });
  }

  show(change: Partial<VolunteerSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) {
      listener(this.#snapshot);
    }
  }
}
