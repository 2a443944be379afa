// The state of the researcher's page, as signals, and the actions of its buttons: sign in, cancel, replay, delete. It
// polls the shown study. The browser is passed in, so that stories and tests can use their own console. Page thread.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { Formatter } from "../i18n/format.ts";
import type { Language } from "../i18n/language.ts";
import { type Api, ConsoleError } from "./api.ts";
import type { Distributions } from "./model/distribution.ts";
import { hashOf, type Route, routeOf, studyOfRoute } from "./model/route.ts";
import type {
  ArtifactRow,
  BarredRow,
  CeilingRow,
  Me,
  NamedLine,
  PersonRow,
  PlacementRow,
  ProjectRow,
  Selection,
  ShareRow,
  StudyRow,
  TrialDetail,
  WorkerRow,
} from "./model/rows.ts";
import { noTrials, type StudyData, withRows } from "./model/study_data.ts";
import { SeriesStore } from "./series_store.ts";
import { forgetToken, isToken, keepToken, keptToken, type TokenStore } from "./session.ts";
import { TrialsStore } from "./trials/trials_store.ts";
import type { Words } from "./words/dictionary.ts";
import { researchWords } from "./words/index.ts";

/** While a shown study runs, the pause between an answer and the next request. */
export const LIVE_POLL_MS = 2_000;
export const IDLE_POLL_MS = 10_000;
const MAX_RETRY_MS = 30_000;
/** While many trials are read, the number of rows after which the page shows them. */
const SHOWN_AT_ONCE = 10_000;
/** The most values of each series that the page of one trial shows. */
const TRIAL_POINTS = 500;
/** The list shows STUDIES_AT_ONCE studies at first and as many more after each press, up to MOST_STUDIES. */
const STUDIES_AT_ONCE = 100;
const MOST_STUDIES = 5_000;
/** How many people the administrators' table has at first and gets with each press, and the most. */
const PEOPLE_AT_ONCE = 500;
const MOST_PEOPLE = 5_000;

export interface ResearchEnvironment {
  readonly api: (token: string) => Api;
  readonly tokens: TokenStore;
  readonly hash: () => string;
  readonly onHashChange: (listener: () => void) => () => void;
  readonly goTo: (hash: string) => void;
  /** Calls `callback` once after about `ms` milliseconds, unless the returned function is called before. */
  readonly after: (ms: number, callback: () => void) => () => void;
  readonly isVisible: () => boolean;
  readonly onVisible: (listener: () => void) => () => void;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  readonly language: Language;
  readonly rememberLanguage: (language: Language) => void;
}

export type Session =
  | { readonly kind: "out" }
  | { readonly kind: "checking" }
  | { readonly kind: "in"; readonly me: Me };

/** A problem that the page shows. `message` is the server's own sentence. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  /** The id of the refused request, for the server's operator. */
  readonly requestId?: string;
}

function problemOf(error: unknown): Problem {
  if (error instanceof ConsoleError) {
    const { code, message, requestId } = error;
    return requestId === "" ? { code, message } : { code, message, requestId };
  }
  throw error;
}

/** What administrators of the server have stopped, limited and not yet approved (R67, R68). */
export interface Operated {
  /** The codes of what is wrong with the server. */
  readonly warnings: readonly string[];
  /** The studies that wait for approval, oldest first. */
  readonly awaiting: readonly StudyRow[];
  readonly people: readonly PersonRow[];
  /** Whether there are more people than the shown ones. */
  readonly morePeople: boolean;
  /** How many bytes the server may still store. */
  readonly room: number;
  readonly projects: readonly ProjectRow[];
  readonly barred: readonly BarredRow[];
  readonly ceilings: readonly CeilingRow[];
  readonly shares: readonly ShareRow[];
}

/** Says what an administrator's change has done. */
export type Done = (words: Words) => string;

export async function operatedOf(api: Api, count = PEOPLE_AT_ONCE): Promise<Operated> {
  const [warnings, awaiting, { people, room, more }, projects, barred, ceilings, shares] =
    await Promise.all([
      api.warnings(),
      api.awaiting(),
      api.people(count),
      api.projects(),
      api.barred(),
      api.ceilings(),
      api.shares(),
    ]);
  const morePeople = more && count < MOST_PEOPLE;
  return { warnings, awaiting, people, morePeople, room, projects, barred, ceilings, shares };
}

export class ResearchStore {
  readonly language: Signal<Language>;
  readonly words: ReadonlySignal<Words>;
  readonly format: ReadonlySignal<Formatter>;
  readonly session: Signal<Session> = signal({ kind: "out" });
  readonly route: Signal<Route>;
  /** The reason why the last request for the page's content failed; null after an answer. */
  readonly problem: Signal<Problem | null> = signal(null);
  /** The reason why the last button's action was refused. It stays until the next action or another view. */
  readonly refusal: Signal<Problem | null> = signal(null);
  readonly studies: Signal<readonly StudyRow[] | null> = signal(null);
  /** Whether there are studies that are older than the shown ones. */
  readonly olderStudies: Signal<boolean> = signal(false);
  readonly study: Signal<StudyRow | null> = signal(null);
  /** The rows of the open study. At first they are the empty rows of study 0, which does not exist. */
  readonly data: Signal<StudyData> = signal(noTrials(0));
  /** Whether the reader wants the rows to stay as they are while newer ones arrive. */
  readonly isStill: Signal<boolean> = signal(false);
  /** The number of rows that have arrived since then. */
  readonly waiting: Signal<number> = signal(0);
  /** The distributions of the open study's space; null before `loadSpace`. */
  readonly space: Signal<Distributions | null> = signal(null);
  readonly detail: Signal<TrialDetail | null> = signal(null);
  /** The series of the open study. */
  readonly series = new SeriesStore();
  /** The series of the shown trial. */
  readonly trialSeries: Signal<readonly NamedLine[]> = signal([]);
  /** The files that the shown trial uploaded. */
  readonly files: Signal<readonly ArtifactRow[]> = signal([]);
  /** Ids of files that are being downloaded. No other request waits for these downloads. */
  readonly fetching: Signal<ReadonlySet<string>> = signal(new Set());
  readonly workers: Signal<readonly WorkerRow[]> = signal([]);
  /** The devices that may run the study. Set for a running study with requirements; else null. */
  readonly placement: Signal<PlacementRow | null> = signal(null);
  readonly joinLink: Signal<string | null> = signal(null);
  /** What administrators have stopped, limited and not yet approved; null before the first answer. */
  readonly operated: Signal<Operated | null> = signal(null);
  /** What the administrator's last change has done, until the next action or another view. */
  readonly done: Signal<Done | null> = signal(null);
  /** The name of the study that was just deleted, until another one is shown. */
  readonly removed: Signal<string | null> = signal(null);
  /** Whether a button's request is in progress. */
  readonly busy: Signal<boolean> = signal(false);

  /** The table of the open study's trials. */
  readonly trials = new TrialsStore(this.data, this.study);

  readonly #environment: ResearchEnvironment;
  /** The newest rows while older ones are shown, because the reader wants that. */
  #newer: StudyData | null = null;
  #api: Api | null = null;
  /** Counts changes of route and session. An answer to a request from before the last change is ignored. */
  #era = 0;
  #failures = 0;
  /** How many studies the list shows at most. */
  #shownStudies = STUDIES_AT_ONCE;
  #shownPeople = PEOPLE_AT_ONCE;
  #cancelTimer: () => void = () => {};
  readonly #disposers: (() => void)[] = [];

  constructor(environment: ResearchEnvironment) {
    this.#environment = environment;
    this.language = signal(environment.language);
    this.words = computed(() => researchWords[this.language.value]);
    this.format = computed(() => new Formatter(this.language.value));
    this.route = signal(routeOf(environment.hash()));
    this.#disposers.push(
      environment.onHashChange(() => this.#setRoute(routeOf(environment.hash()))),
      environment.onVisible(() => void this.#restart()),
    );
    const token = keptToken(environment.tokens);
    if (token !== null) {
      void this.signIn(token);
    }
  }

  /** Shows another view. */
  goTo(route: Route): void {
    this.#environment.goTo(hashOf(route));
  }

  /** Checks the token with the server, and keeps it if the server knows it. */
  async signIn(text: string): Promise<void> {
    const token = text.trim();
    const { tokens, api } = this.#environment;
    this.problem.value = null;
    if (!isToken(token)) {
      this.problem.value = { code: "unauthorized", message: "" };
      return;
    }
    const era = this.#beginEra();
    this.session.value = { kind: "checking" };
    const candidate = api(token);
    try {
      const me = await candidate.me();
      if (era !== this.#era) {
        return;
      }
      keepToken(tokens, token);
      this.#api = candidate;
      this.session.value = { kind: "in", me };
      void this.#restart();
    } catch (error) {
      if (era === this.#era) {
        this.#leave(problemOf(error));
      }
    }
  }

  signOut(): void {
    this.#leave(null);
  }

  setLanguage(language: Language): void {
    this.language.value = language;
    this.#environment.rememberLanguage(language);
  }

  /** Keeps the rows as they are, or shows the newest ones and those that arrive from now on. */
  keepStill(isStill: boolean): void {
    this.isStill.value = isStill;
    if (!isStill) {
      this.data.value = this.#newer ?? this.data.value;
      this.#newer = null;
      this.waiting.value = 0;
    }
  }

  /** Reads the distributions of the open study's space, once. Without an answer plots do without them. */
  async loadSpace(): Promise<void> {
    const study = this.study.value;
    if (this.#api === null || study === null || this.space.value !== null) {
      return;
    }
    this.space.value = new Map();
    // The trials of an ask-and-tell study have distributions of their own, and it has no space.
    const space =
      study.names.length === 0 ? null : await this.#api.space(study.study).catch(() => null);
    if (space !== null && this.study.value?.study === study.study) {
      this.space.value = space;
    }
  }

  async cancelStudy(): Promise<void> {
    await this.#act(async (api, study) => {
      this.study.value = await api.cancel(study);
    });
  }

  /** Stops leasing the study's trials to devices, or leases them again. */
  async pauseStudy(isPaused: boolean): Promise<void> {
    await this.#act(async (api, study) => {
      this.study.value = isPaused ? await api.pause(study) : await api.resume(study);
    });
  }

  /** Gives the study another priority among those of its owner. */
  async prioritizeStudy(priority: number): Promise<void> {
    await this.#act(async (api, study) => {
      this.study.value = await api.prioritize(study, priority);
    });
  }

  /** Issues the study's failed trials again. */
  async replayFailed(): Promise<void> {
    await this.#act(async (api, study) => {
      this.study.value = await api.replay(study);
    });
  }

  /** Rejects attempts of the study, so that their trials run again on other devices. */
  async reject(which: Selection, reason: string): Promise<void> {
    await this.#act((api, study) => api.reject(study, which, reason));
  }

  /** Bans a device, and rejects what it has sent in all studies of the reader. */
  async banDevice(device: string, reason: string): Promise<void> {
    await this.#act((api) => api.banDevice(device, reason));
  }

  /** Shows more of the older studies. */
  async showOlder(): Promise<void> {
    await this.#showMore(() => {
      this.#shownStudies = Math.min(this.#shownStudies + STUDIES_AT_ONCE, MOST_STUDIES);
    });
  }

  /** Shows more people in the administrators' table. */
  async showMorePeople(): Promise<void> {
    await this.#showMore(() => {
      this.#shownPeople = Math.min(this.#shownPeople + PEOPLE_AT_ONCE, MOST_PEOPLE);
    });
  }

  /** Deletes the study, which has ended, and shows the list of studies. */
  async removeStudy(): Promise<void> {
    const name = this.study.value?.name ?? "";
    await this.#act(async (api, study) => {
      await api.remove(study);
      this.removed.value = name;
      // The route changes at once, so that nothing more is asked about the deleted study. The browser reports the same
      // route later.
      const list: Route = { page: "studies" };
      this.#environment.goTo(hashOf(list));
      this.#setRoute(list);
    });
  }

  /** Downloads a file of the trial. `save` is called only if the reader is still on the trial's page. */
  async fetchFile(id: string, save: (content: Blob) => void): Promise<void> {
    const api = this.#api;
    const route = this.route.value;
    if (api === null || route.page !== "trial" || this.fetching.value.has(id)) {
      return;
    }
    const isHere = () => this.#api === api && this.route.value === route;
    this.fetching.value = new Set(this.fetching.value).add(id);
    this.refusal.value = null;
    try {
      const content = await api.artifact(route.study, route.trial, id);
      if (isHere()) {
        save(content);
      }
    } catch (error) {
      if (isHere()) {
        this.refusal.value = problemOf(error);
      }
    } finally {
      const left = new Set(this.fetching.value);
      left.delete(id);
      this.fetching.value = left;
    }
  }

  /** Sends a change of an administrator, and shows what the server then has. Returns whether the server made it. */
  async operate(change: (api: Api) => Promise<void>, done: Done): Promise<boolean> {
    this.done.value = null;
    return this.#act(async (api) => {
      await change(api);
      this.done.value = done;
    });
  }

  async makeJoinLink(): Promise<void> {
    await this.#act(async (api) => {
      this.joinLink.value = await api.joinLink();
    });
  }

  dispose(): void {
    this.#beginEra();
    for (const dispose of this.#disposers.splice(0)) {
      dispose();
    }
  }

  async #showMore(more: () => void): Promise<void> {
    if (this.#api === null || this.busy.value) {
      return;
    }
    this.busy.value = true;
    this.refusal.value = null;
    more();
    try {
      await this.#restart();
    } finally {
      this.busy.value = false;
    }
  }

  /** Runs a button's action, unless another one is in progress. Returns whether the server did it. */
  async #act(action: (api: Api, study: number) => Promise<void>): Promise<boolean> {
    const route = this.route.value;
    if (this.#api === null || this.busy.value) {
      return false;
    }
    this.busy.value = true;
    this.refusal.value = null;
    try {
      await action(this.#api, studyOfRoute(route));
      void this.#restart();
      return true;
    } catch (error) {
      const problem = problemOf(error);
      if (problem.code === "unauthorized") {
        this.#leave(problem);
      } else {
        this.refusal.value = problem;
      }
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  #setRoute(route: Route): void {
    if (hashOf(route) === hashOf(this.route.value)) {
      return;
    }
    const before = this.route.value;
    this.detail.value = null;
    this.trialSeries.value = [];
    this.files.value = [];
    this.problem.value = null;
    this.refusal.value = null;
    this.done.value = null;
    if (studyOfRoute(route) === 0 || studyOfRoute(route) !== studyOfRoute(before)) {
      this.study.value = null;
      this.placement.value = null;
      this.#forgetRows();
      this.trials.clear();
    }
    if (route.page !== "studies") {
      this.removed.value = null;
    }
    this.route.value = route;
    void this.#restart();
  }

  #leave(problem: Problem | null): void {
    const { tokens } = this.#environment;
    this.#beginEra();
    // The token is kept if the server cannot be reached, because it may still be valid.
    if (problem === null || problem.code === "unauthorized") {
      forgetToken(tokens);
    }
    this.#api = null;
    this.session.value = { kind: "out" };
    this.studies.value = null;
    this.olderStudies.value = false;
    this.#shownStudies = STUDIES_AT_ONCE;
    this.study.value = null;
    this.#forgetRows();
    this.detail.value = null;
    this.trialSeries.value = [];
    this.files.value = [];
    this.workers.value = [];
    this.placement.value = null;
    this.joinLink.value = null;
    this.operated.value = null;
    this.#shownPeople = PEOPLE_AT_ONCE;
    this.done.value = null;
    this.removed.value = null;
    this.refusal.value = null;
    this.problem.value = problem;
  }

  /** Forgets the rows of the study that was shown. */
  #forgetRows(): void {
    this.data.value = noTrials(0);
    this.#newer = null;
    this.isStill.value = false;
    this.waiting.value = 0;
    this.space.value = null;
    this.series.clear();
  }

  #beginEra(): number {
    this.#cancelTimer();
    this.#era += 1;
    return this.#era;
  }

  /** Asks the server at once. The answer to an earlier request is ignored. */
  async #restart(): Promise<void> {
    // If there is no API object, the token is still being checked, so nothing can be asked.
    if (this.#api !== null) {
      const era = this.#beginEra();
      this.#failures = 0;
      await this.#refresh(era, this.#api);
    }
  }

  async #refresh(era: number, api: Api): Promise<void> {
    try {
      await this.#load(era, api);
      if (era !== this.#era) {
        return;
      }
      this.problem.value = null;
      this.#failures = 0;
      this.#askAgain(era, api, this.#isLive() ? LIVE_POLL_MS : IDLE_POLL_MS);
    } catch (error) {
      if (era !== this.#era) {
        return;
      }
      const problem = problemOf(error);
      if (problem.code === "unauthorized") {
        this.#leave(problem);
        return;
      }
      this.problem.value = problem;
      this.#failures += 1;
      const backoff = Math.min(MAX_RETRY_MS, LIVE_POLL_MS * 2 ** this.#failures);
      this.#askAgain(era, api, backoff * (0.5 + this.#environment.random() / 2));
    }
  }

  #askAgain(era: number, api: Api, ms: number): void {
    this.#cancelTimer = this.#environment.after(ms, () => {
      // A hidden page does not poll. It starts again when it becomes visible.
      if (era === this.#era && this.#environment.isVisible()) {
        void this.#refresh(era, api);
      }
    });
  }

  #isLive(): boolean {
    return this.route.value.page === "studies"
      ? (this.studies.value?.some(({ state }) => state === "running") ?? false)
      : this.study.value?.state === "running";
  }

  async #load(era: number, api: Api): Promise<void> {
    const route = this.route.value;
    if (route.page === "operate") {
      const count = this.#shownPeople;
      const operated = await operatedOf(api, count);
      // The answer to an earlier request may have fewer people than the reader wants meanwhile.
      if (era === this.#era && count === this.#shownPeople) {
        this.operated.value = operated;
      }
      return;
    }
    if (route.page === "studies") {
      const count = this.#shownStudies;
      const [page, workers] = await Promise.all([api.studies(count), api.workers()]);
      // The answer to an earlier request may have fewer studies than the reader wants meanwhile.
      if (era === this.#era && count === this.#shownStudies) {
        this.studies.value = page.studies;
        this.olderStudies.value = page.more && count < MOST_STUDIES;
        this.workers.value = workers;
      }
      return;
    }
    const [study, workers, detail, files] = await Promise.all([
      api.study(route.study),
      api.workers(),
      route.page === "trial" ? api.trial(route.study, route.trial) : null,
      route.page === "trial" ? api.artifacts(route.study, route.trial) : [],
    ]);
    if (era !== this.#era) {
      return;
    }
    this.study.value = study;
    this.workers.value = workers;
    this.detail.value = detail;
    this.files.value = files;
    if (detail?.hasSeries) {
      const series = await api.trialSeries(study.study, detail.trial, TRIAL_POINTS);
      if (era === this.#era) {
        this.trialSeries.value = series;
      }
    }
    if (route.page === "study") {
      const asks =
        study.state === "running" &&
        (study.running === 0 || study.backend !== null || study.hasRequirements);
      const placement = asks ? await api.placement(study.study) : null;
      if (era !== this.#era) {
        return;
      }
      this.placement.value = placement;
      await Promise.all([
        this.isStill.value ? null : this.series.refresh(api, study),
        this.#loadTrials(era, api, study),
      ]);
    }
  }

  async #loadTrials(era: number, api: Api, study: StudyRow): Promise<void> {
    if (this.data.value.study !== study.study) {
      this.data.value = noTrials(study.study);
    }
    // The first rows are shown at once, and those after them many at a time, because each version is drawn anew.
    let read = this.#newer ?? this.data.value;
    while (study.cursor > read.cursor && !read.full) {
      const { trials, cursor } = await api.trials(study.study, read.cursor);
      if (era !== this.#era) {
        return;
      }
      if (trials.length === 0) {
        break;
      }
      read = withRows(read, trials, cursor);
      if (this.isStill.value) {
        this.#newer = read;
        this.waiting.value += trials.length;
        continue;
      }
      const shown = this.data.value.trials.length;
      if (shown === 0 || read.trials.length - shown >= SHOWN_AT_ONCE) {
        this.data.value = read;
      }
    }
    if (!this.isStill.value) {
      this.data.value = read;
    }
  }
}
