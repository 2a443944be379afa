// What the join page knows, as signals, and what its buttons do. Page thread; the browser is passed in, so
// that stories and tests run it with a volunteer of their own.

import type { ProjectView, Volunteer, VolunteerSnapshot } from "@hyperflock/worker-runtime/page";
import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Dictionary } from "../i18n/dictionary.ts";
import { Formatter } from "../i18n/format.ts";
import { dictionaries, type Language } from "../i18n/language.ts";
import type { CodeResult } from "./enrolment_code.ts";
import type { ProjectLoad } from "./project_api.ts";
import {
  type ContributionView,
  contributionView,
  needsClock,
  type PanelView,
  panelView,
} from "./view_model.ts";

const kTickMs = 1000;

export interface JoinEnvironment {
  readonly code: CodeResult;
  readonly createVolunteer: (options: { code: string }) => Volunteer;
  readonly fetchProject: (code: string) => Promise<ProjectLoad>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Calls back about every `ms` until the answer is called. */
  readonly every: (ms: number, tick: () => void) => () => void;
  readonly language: Language;
  readonly rememberLanguage: (language: Language) => void;
}

export class JoinStore {
  readonly language: Signal<Language>;
  readonly words: ReadonlySignal<Dictionary>;
  readonly format: ReadonlySignal<Formatter>;
  readonly project: ReadonlySignal<ProjectView | null>;
  readonly panel: ReadonlySignal<PanelView>;
  readonly contribution: ReadonlySignal<ContributionView | null>;
  /** The code, for the link that can be copied; null when there is none. */
  readonly code: string | null;

  readonly #environment: JoinEnvironment;
  readonly #load: Signal<ProjectLoad> = signal({ kind: "loading" });
  readonly #snapshot: Signal<VolunteerSnapshot | null> = signal(null);
  readonly #nowMs: Signal<number>;
  readonly #volunteer: Volunteer | null;
  readonly #disposers: (() => void)[] = [];

  constructor(environment: JoinEnvironment) {
    this.#environment = environment;
    this.#nowMs = signal(environment.now());
    this.language = signal(environment.language);
    this.words = computed(() => dictionaries[this.language.value]);
    this.format = computed(() => new Formatter(this.language.value));
    this.project = computed(() => {
      const load = this.#load.value;
      return this.#snapshot.value?.project ?? (load.kind === "ready" ? load.project : null);
    });
    this.panel = computed(() =>
      panelView({
        project: this.#load.value,
        snapshot: this.#snapshot.value,
        nowMs: this.#nowMs.value,
        words: this.words.value,
        format: this.format.value,
      }),
    );
    this.contribution = computed(() =>
      contributionView(this.#snapshot.value?.contribution, this.format.value),
    );
    const { code } = environment;
    this.code = code.kind === "code" ? code.code : null;
    this.#volunteer = this.code === null ? null : this.#attach(this.code);
    this.#runClock();
    void this.loadProject();
  }

  /** Asks what is computed and for whom; again after a failure. */
  async loadProject(): Promise<void> {
    const { code, fetchProject } = this.#environment;
    if (code.kind !== "code") {
      this.#load.value = {
        kind: "problem",
        problem: code.kind === "missing" ? "no_code" : "bad_code",
      };
      return;
    }
    this.#load.value = { kind: "loading" };
    this.#load.value = await fetchProject(code.code);
  }

  /** Only from a tap. */
  start(): void {
    this.#volunteer?.start();
  }

  stop(): void {
    this.#volunteer?.stop();
  }

  setLanguage(language: Language): void {
    this.language.value = language;
    this.#environment.rememberLanguage(language);
  }

  dispose(): void {
    for (const dispose of this.#disposers.splice(0)) {
      dispose();
    }
  }

  #attach(code: string): Volunteer {
    const volunteer = this.#environment.createVolunteer({ code });
    this.#snapshot.value = volunteer.snapshot;
    this.#disposers.push(
      volunteer.subscribe((snapshot) => {
        // The clock first: a trial that has just begun must not look as if it began in the future.
        this.#nowMs.value = this.#environment.now();
        this.#snapshot.value = snapshot;
      }),
    );
    return volunteer;
  }

  /** Ticks only while something on the page counts seconds. */
  #runClock(): void {
    const wanted = computed(() => needsClock(this.#snapshot.value?.state));
    this.#disposers.push(
      effect(() => {
        if (!wanted.value) {
          return;
        }
        return this.#environment.every(kTickMs, () => {
          this.#nowMs.value = this.#environment.now();
        });
      }),
    );
  }
}
