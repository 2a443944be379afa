// The join page's state, as signals, and the actions of its buttons. The browser is passed in, so that stories and tests
// can use a volunteer of their own. Page thread.

import type {
  Contribution,
  KnownDevice,
  Limits,
  Memories,
  ProjectView,
  RememberedProject,
  Reports,
  Volunteer,
  VolunteerSnapshot,
} from "@hyperflock/worker-runtime/page";
import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { dictionaries } from "../i18n/dictionaries.ts";
import type { Dictionary, ProjectProblem } from "../i18n/dictionary.ts";
import { Formatter } from "../i18n/format.ts";
import type { VolunteerLanguage } from "../i18n/language.ts";
import { LanguageChoice } from "../i18n/language_choice.ts";
import { shownName } from "../ui/shown_name.ts";
import type { DownloadSize, Downloads } from "./download/download.ts";
import type { CodeResult } from "./enrolment_code.ts";
import type { Given } from "./given/given_api.ts";
import { GivenStore } from "./given/given_store.ts";
import { type GivenView, givenView } from "./given/given_view.ts";
import type { GpuShare } from "./gpu_share.ts";
import type { InAppBrowser } from "./in_app.ts";
import { memoryNotes } from "./memory_notes.ts";
import type { PassphrasePart } from "./passphrase/passphrase_part.ts";
import type { ProjectLoad } from "./project_api.ts";
import {
  type ContributionView,
  contributionView,
  needsClock,
  type PanelView,
  panelView,
  shownProject,
} from "./view_model.ts";

const TICK_MS = 1000;
const NAMELESS = { name: "", owner: "" } as const;
const FORGOTTEN_DEVICE: KnownDevice = {
  hasDevice: false,
  contribution: { trials: 0, seconds: 0 },
};

/** What this device remembers of earlier visits, and how it forgets. */
export interface Memory {
  /** The projects that were remembered when the page was opened. */
  readonly atOpening: Memories;
  readonly deviceOf: (code: string) => Promise<KnownDevice>;
  /** Returns whether the project was stored. */
  readonly remember: (project: RememberedProject) => Promise<boolean>;
  readonly forget: (code: string) => Promise<void>;
  /** Returns whether the browser has promised to keep what is stored; with `ask`, asks it to promise. */
  readonly isKept: (ask: boolean) => Promise<boolean>;
  /** Removes the codes from the address, because a bookmark works without them. */
  readonly clearAddress: () => void;
}

export interface JoinEnvironment {
  readonly code: CodeResult;
  readonly memory: Memory;
  readonly createVolunteer: (options: { code: string }) => Volunteer;
  readonly fetchProject: (code: string) => Promise<ProjectLoad>;
  /** Returns how much of it this browser has to fetch; null if nothing is known. */
  readonly downloadSize: (downloads: Downloads) => Promise<DownloadSize | null>;
  /** Asks the server what it has counted for the device of a code; null without a device or an answer. */
  readonly fetchGiven: (code: string) => Promise<Given | null>;
  /** The passphrase of this browser's devices. */
  readonly passphrase: PassphrasePart;
  /** Returns the time in Unix milliseconds. */
  readonly now: () => number;
  /** Calls `run` once after about `ms` milliseconds. */
  readonly after: (ms: number, run: () => void) => void;
  /** Calls `tick` about every `ms` milliseconds until the returned function is called. */
  readonly every: (ms: number, tick: () => void) => () => void;
  /** Whether the browser reports a connection. `onOnlineChange` reports each change. */
  readonly online: boolean;
  readonly onOnlineChange: (tell: (online: boolean) => void) => () => void;
  readonly inApp: InAppBrowser | null;
  /** Whether this browser gives pages access to a graphics processor. */
  readonly hasGpu: boolean;
  readonly gpuShare: GpuShare;
  readonly rememberGpuShare: (share: GpuShare) => void;
  readonly limits: Limits;
  readonly rememberLimits: (limits: Limits) => void;
  /** What this browser reports, and so which limits it can keep. */
  readonly reports: Reports;
  /** The language at the start. Its texts must be here. */
  readonly language: VolunteerLanguage;
  readonly rememberLanguage: (language: VolunteerLanguage) => void;
}

/** A project that a link with several projects offers. */
export interface Choice {
  readonly index: number;
  readonly name: string;
  readonly owner: string;
  /** The project as the server describes it; null while it does not. */
  readonly project: ProjectView | null;
  /** Why the server does not describe the project; null if it does, or is still asked. */
  readonly problem: ProjectProblem | null;
  /** What this device gave so far; null if nothing. */
  readonly contribution: ContributionView | null;
  readonly isChosen: boolean;
}

/** The phases in which no project is joined, so that the volunteer may choose another one. */
const RESTING_PHASES: ReadonlySet<VolunteerSnapshot["state"]["phase"]> = new Set([
  "idle",
  "stopped",
  "finished",
  "forgotten",
  "not_forgotten",
  "failed",
]);

/** The phases in which the server has taken this device. */
const JOINED_PHASES: ReadonlySet<VolunteerSnapshot["state"]["phase"]> = new Set([
  "connecting",
  "waiting",
  "loading",
  "computing",
]);

/** The phases in which no device exists that could be forgotten. */
const FORGOTTEN: ReadonlySet<VolunteerSnapshot["state"]["phase"]> = new Set([
  "unsupported",
  "forgetting",
  "forgotten",
]);

export class JoinStore {
  readonly choice: LanguageChoice;
  readonly words: ReadonlySignal<Dictionary>;
  readonly format: ReadonlySignal<Formatter>;
  /** The chosen project. Its names, and those of the choices, are as the page shows them. */
  readonly project: ReadonlySignal<ProjectView | null>;
  /** The chosen project's names: as the server says, or else as this device remembers. */
  readonly names: ReadonlySignal<{ readonly name: string; readonly owner: string } | null>;
  readonly panel: ReadonlySignal<PanelView>;
  /** What this device gave to the chosen project: as the server says, or else as the device itself counts. */
  readonly contribution: ReadonlySignal<ContributionView | null>;
  /** What a start fetches for the chosen project; null while that is not known. */
  readonly download: ReadonlySignal<DownloadSize | null>;
  /**
   * What the devices of this browser gave, and those that have the same passphrase, as the server says; null if nothing.
   */
  readonly given: ReadonlySignal<GivenView | null>;
  /** The title of the tab. It shows the state once the device takes part. */
  readonly title: ReadonlySignal<string>;
  /** Whether nothing is joined or computed, so that a reload of the page interrupts nothing. */
  readonly isResting: ReadonlySignal<boolean>;
  /** Whether this device takes part in the chosen project, now or since an earlier visit. */
  readonly takesPart: ReadonlySignal<boolean>;
  /** The projects to choose from. Empty if there is only one, or while this device computes. */
  readonly choices: ReadonlySignal<readonly Choice[]>;
  /** Sentences about what this device remembers, or does not. */
  readonly notes: ReadonlySignal<readonly string[]>;
  /** Whether the page shows the remembered projects, and not those of a link. */
  readonly isMemory: boolean;
  readonly passphrase: PassphrasePart;
  readonly gpuShare: Signal<GpuShare>;
  readonly hasGpu: boolean;
  /** When this device may compute. */
  readonly limits: Signal<Limits>;
  readonly reports: Reports;
  /** Whether the limits are shown: while nothing is computed. */
  readonly maySetLimits: ReadonlySignal<boolean>;
  /** The link's codes, from which the link can be made again; empty if there are none. */
  readonly codes: readonly string[];

  readonly #environment: JoinEnvironment;
  /** The state of loading each code's project. */
  readonly #loads: Signal<readonly ProjectLoad[]>;
  readonly #chosen: Signal<number> = signal(0);
  /** What a start fetches, by code. */
  readonly #sizes: Signal<ReadonlyMap<string, DownloadSize>> = signal(new Map());
  readonly #remembered: ReadonlyMap<string, RememberedProject>;
  readonly #devices: Signal<ReadonlyMap<string, KnownDevice>> = signal(new Map());
  /** The codes of which this device remembers the project now. */
  readonly #kept: Set<string>;
  /** Whether the chosen project was to be remembered, and was not. */
  readonly #notKept: Signal<boolean> = signal(false);
  /** The codes with which this device has joined during this visit. */
  readonly #started = new Set<string>();
  readonly #given: GivenStore;
  /** The trials that the agent had counted when the server was asked, by code. */
  readonly #counted = new Map<string, number>();
  #hasAskedToKeep = false;
  readonly #snapshot: Signal<VolunteerSnapshot | null> = signal(null);
  readonly #nowMs: Signal<number>;
  readonly #online: Signal<boolean>;
  readonly #inApp: Signal<InAppBrowser | null>;
  /** A volunteer for each code. It is made when its project is chosen for the first time. */
  readonly #volunteers = new Map<string, Volunteer>();
  readonly #disposers: (() => void)[] = [];

  constructor(environment: JoinEnvironment) {
    this.#environment = environment;
    this.#nowMs = signal(environment.now());
    this.#given = new GivenStore(environment);
    this.choice = new LanguageChoice(
      environment.language,
      [dictionaries],
      environment.rememberLanguage,
    );
    this.gpuShare = signal(environment.gpuShare);
    this.hasGpu = environment.hasGpu;
    this.limits = signal(environment.limits);
    this.reports = environment.reports;
    this.words = computed(() => dictionaries.of(this.choice.language.value));
    this.format = computed(() => new Formatter(this.words.value.tag));
    this.#online = signal(environment.online);
    this.#inApp = signal(environment.inApp);
    const { code, memory } = environment;
    this.codes = code.kind === "codes" ? code.codes : [];
    this.isMemory = code.kind === "codes" && code.isMemory === true;
    const { projects, damaged } = memory.atOpening;
    this.#remembered = new Map(projects.map((project) => [project.code, project]));
    this.#kept = new Set(this.#remembered.keys());
    this.#loads = signal(this.codes.map(() => ({ kind: "loading" })));
    this.project = computed(() => {
      const load = this.#load;
      const project =
        this.#snapshot.value?.project ?? (load.kind === "ready" ? load.project : null);
      return project === null ? null : shownProject(project);
    });
    this.names = computed(() => {
      const names = this.project.value ?? this.#remembered.get(this.#code);
      return names === undefined
        ? null
        : { name: shownName(names.name), owner: shownName(names.owner) };
    });
    this.download = computed(() => this.#sizes.value.get(this.#code) ?? null);
    this.panel = computed(() =>
      panelView({
        download: this.download.value,
        project: this.#load,
        snapshot: this.#snapshot.value,
        nowMs: this.#nowMs.value,
        online: this.#online.value,
        inApp: this.#inApp.value,
        known: this.#devices.value.get(this.#code)?.hasDevice === true ? "joined" : "unknown",
        limits: this.limits.value,
        words: this.words.value,
        format: this.format.value,
      }),
    );
    this.contribution = computed(() => {
      const now = this.#snapshot.value;
      // The agent counts only after the start. Before it, the device's own record counts.
      const earlier = this.#devices.value.get(this.#code)?.contribution;
      const given = now?.state.phase === "idle" ? earlier : now?.contribution;
      return this.#contributionOf(this.#code, given);
    });
    this.passphrase = environment.passphrase;
    this.given = computed(() =>
      givenView(this.#givenParts(), this.#nowMs.value, this.words.value.given, this.format.value),
    );
    this.title = computed(() => {
      const { phase, title } = this.panel.value;
      const began = phase === (this.#snapshot.value?.state.phase ?? "idle") && phase !== "idle";
      return began || phase === "offline" ? `${title} – Hyperflock` : this.words.value.pageTitle;
    });
    this.notes = computed(() =>
      memoryNotes({
        remembered: this.#remembered.get(this.#code) ?? null,
        project: this.#load.kind === "ready" ? this.#load.project : null,
        damaged,
        notKept: this.#notKept.value,
        words: this.words.value.memory,
      }),
    );
    this.choices = computed(() => this.#findChoices());
    this.isResting = computed(() => {
      const phase = this.#snapshot.value?.state.phase;
      return phase === undefined || RESTING_PHASES.has(phase);
    });
    this.maySetLimits = computed(() => {
      const state = this.#snapshot.value?.state;
      const phase = state?.phase;
      // A limit on data may be why the device waits.
      if (state?.phase === "waiting" && state.refused !== undefined) {
        return true;
      }
      return phase === "paused" || (phase !== undefined && RESTING_PHASES.has(phase));
    });
    this.takesPart = computed(() => {
      const phase = this.#snapshot.value?.state.phase;
      const isJoined = phase !== undefined && JOINED_PHASES.has(phase);
      return isJoined || this.#devices.value.get(this.#code)?.hasDevice === true;
    });
    this.#attachChosen();
    this.#runClock();
    this.#disposers.push(environment.onOnlineChange((online) => this.#setOnline(online)));
    void this.loadProject();
    void this.#loadDevices();
    void this.#clearAddress(false);
  }

  /** Asks the server about each code's project: what is computed and for whom. After a failure, call it again. */
  async loadProject(): Promise<void> {
    await Promise.all(
      this.codes.map(async (code, index) => {
        if (this.#loads.value[index]?.kind === "ready") {
          return;
        }
        this.#setLoad(index, { kind: "loading" });
        const load = await this.#environment.fetchProject(code);
        this.#setLoad(index, load);
        if (load.kind === "ready" && load.downloads !== undefined) {
          void this.#measure(code, load.downloads);
        }
      }),
    );
    // If the chosen project could not be loaded, the first project of the link that could be loaded is chosen. Of
    // remembered projects, the one that was used last stays chosen.
    const loads = this.#loads.value;
    const ready = loads.findIndex(({ kind }) => kind === "ready");
    if (!this.isMemory && loads[this.#chosen.value]?.kind !== "ready" && ready >= 0) {
      this.choose(ready);
    }
  }

  /** Chooses another project of the link. Does nothing while this device computes. */
  choose(index: number): void {
    const phase = this.#snapshot.value?.state.phase;
    if (index in this.codes && phase !== undefined && RESTING_PHASES.has(phase)) {
      this.#chosen.value = index;
      this.#attachChosen();
    }
  }

  /** Starts to compute. Must be called from a tap. */
  start(): void {
    this.#volunteer?.start();
  }

  pause(): void {
    this.#volunteer?.pause();
  }

  resume(): void {
    this.#volunteer?.resume();
  }

  /** Switches whether this device stops after the present trial. */
  toggleFinish(): void {
    this.#volunteer?.finish(this.#snapshot.value?.finishing !== true);
  }

  stop(): void {
    this.#volunteer?.stop();
  }

  /** Sets how much of the graphics processor's time trials may use from now on. */
  setGpuShare(share: GpuShare): void {
    this.gpuShare.value = share;
    this.#environment.rememberGpuShare(share);
    for (const volunteer of this.#volunteers.values()) {
      volunteer.setGpuShare(share);
    }
  }

  /** Sets when this device may compute, from now on. */
  setLimits(limits: Limits): void {
    this.limits.value = limits;
    this.#environment.rememberLimits(limits);
    for (const volunteer of this.#volunteers.values()) {
      volunteer.setLimits(limits);
    }
  }

  /** Whether a device exists that can be forgotten now. */
  get canForget(): boolean {
    const phase = this.#snapshot.value?.state.phase;
    return phase !== undefined && !FORGOTTEN.has(phase);
  }

  /** Ends the work and makes the server forget this device. Must be called from a tap. */
  forget(): void {
    this.#volunteer?.forget();
  }

  /** Hides the advice to leave the app's browser, because the volunteer wants to try this one. */
  stayInApp(): void {
    this.#inApp.value = null;
  }

  dispose(): void {
    for (const dispose of this.#disposers.splice(0)) {
      dispose();
    }
  }

  get #load(): ProjectLoad {
    const { code } = this.#environment;
    if (code.kind !== "codes") {
      return { kind: "problem", problem: code.kind === "missing" ? "no_code" : "bad_code" };
    }
    return this.#loads.value[this.#chosen.value] ?? { kind: "loading" };
  }

  #setLoad(index: number, load: ProjectLoad): void {
    this.#loads.value = this.#loads.value.with(index, load);
  }

  async #measure(code: string, downloads: Downloads): Promise<void> {
    const size = await this.#environment.downloadSize(downloads);
    if (size !== null) {
      this.#sizes.value = new Map(this.#sizes.value).set(code, size);
    }
  }

  #findChoices(): readonly Choice[] {
    const phase = this.#snapshot.value?.state.phase;
    const found = this.#loads.value.flatMap((load, index) => {
      const code = this.codes[index] ?? "";
      const project = load.kind === "ready" ? shownProject(load.project) : null;
      const names = project ?? this.#remembered.get(code);
      if (names === undefined || (this.isMemory && !this.#kept.has(code))) {
        return [];
      }
      const { contribution } = this.#devices.value.get(code) ?? {};
      return {
        index,
        name: shownName(names.name),
        owner: shownName(names.owner),
        project,
        problem: load.kind === "problem" ? load.problem : null,
        contribution: this.#contributionOf(code, contribution),
        isChosen: index === this.#chosen.value,
      };
    });
    const offers = found.length > 1 || found.some(({ isChosen }) => !isChosen);
    return offers && phase !== undefined && RESTING_PHASES.has(phase) ? found : [];
  }

  #contributionOf(code: string, counted: Contribution | undefined): ContributionView | null {
    const shown = counted === undefined ? undefined : this.#given.inAll(code, counted);
    return contributionView(shown, this.words.value, this.format.value);
  }

  /** The devices of a passphrase are counted together, with those of this browser. */
  #givenParts(): readonly Given[] {
    const together = this.passphrase.together.value;
    return together === null ? [...this.#given.given.value.values()] : [together.given];
  }

  get #code(): string {
    return this.codes[this.#chosen.value] ?? "";
  }

  get #volunteer(): Volunteer | null {
    return this.#volunteers.get(this.#code) ?? null;
  }

  async #loadDevices(): Promise<void> {
    const { memory } = this.#environment;
    for (const code of this.codes) {
      if (this.#remembered.has(code)) {
        const device = await memory.deviceOf(code);
        this.#devices.value = new Map(this.#devices.value).set(code, device);
        if (device.hasDevice) {
          this.#given.ask(code, device.contribution);
        }
      }
    }
  }

  /** Remembers a project that this device has just joined, so that `/` leads back to it. */
  async #remember(code: string, joined: ProjectView | null): Promise<void> {
    const { memory, now } = this.#environment;
    const load = this.#loads.value[this.codes.indexOf(code)];
    const project = joined ?? (load?.kind === "ready" ? load.project : null);
    const { name, owner } = project ?? this.#remembered.get(code) ?? NAMELESS;
    const isKept = await memory.remember({ code, name, owner, usedAt: now() });
    this.#notKept.value = !isKept;
    if (isKept) {
      this.#kept.add(code);
      await this.#clearAddress(false);
    }
  }

  /** Takes the codes out of the address if a bookmark works without them. */
  async #clearAddress(ask: boolean): Promise<void> {
    const { memory } = this.#environment;
    if (this.codes.length > 0 && this.codes.every((code) => this.#kept.has(code))) {
      if (await memory.isKept(ask)) {
        memory.clearAddress();
      }
    }
  }

  /** Follows a change of the volunteer's state in what this device remembers. */
  #follow(code: string, { state, contribution, project }: VolunteerSnapshot): void {
    if (JOINED_PHASES.has(state.phase) && !this.#started.has(code)) {
      this.#started.add(code);
      void this.#remember(code, project);
    }
    if (this.#started.has(code) && this.#counted.get(code) !== contribution.trials) {
      this.#counted.set(code, contribution.trials);
      this.#given.ask(code, contribution);
    }
    if (state.phase === "forgotten") {
      this.#started.delete(code);
      this.#counted.delete(code);
      this.#given.forget(code);
      this.#kept.delete(code);
      this.#devices.value = new Map(this.#devices.value).set(code, FORGOTTEN_DEVICE);
      void this.#environment.memory.forget(code);
    }
    // The browser is asked only after the first finished trial: until then there is little to keep.
    if (!this.#hasAskedToKeep && contribution.trials > 0 && !RESTING_PHASES.has(state.phase)) {
      this.#hasAskedToKeep = true;
      void this.#clearAddress(true);
    }
  }

  #attachChosen(): void {
    const code = this.codes[this.#chosen.value];
    if (code === undefined) {
      return;
    }
    const volunteer = this.#volunteers.get(code) ?? this.#environment.createVolunteer({ code });
    this.#snapshot.value = volunteer.snapshot;
    if (this.#volunteers.has(code)) {
      return;
    }
    this.#volunteers.set(code, volunteer);
    volunteer.setGpuShare(this.gpuShare.value);
    volunteer.setLimits(this.limits.value);
    this.#disposers.push(
      volunteer.subscribe((snapshot) => {
        if (this.#volunteer !== volunteer) {
          return;
        }
        // The page's time is updated first. Otherwise a trial that has just begun would seem to begin in the future.
        this.#nowMs.value = this.#environment.now();
        this.#snapshot.value = snapshot;
        this.#follow(code, snapshot);
      }),
    );
  }

  #setOnline(online: boolean): void {
    this.#online.value = online;
    const load = this.#load;
    if (online && load.kind === "problem" && load.problem === "unreachable") {
      void this.loadProject();
    }
  }

  /** Runs the clock, but only while something on the page counts seconds. */
  #runClock(): void {
    const wanted = computed(() => needsClock(this.#snapshot.value?.state));
    this.#disposers.push(
      effect(() => {
        if (!wanted.value) {
          return;
        }
        return this.#environment.every(TICK_MS, () => {
          this.#nowMs.value = this.#environment.now();
        });
      }),
    );
  }
}
