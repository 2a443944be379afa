// Decides what the page shows: one pure function of the volunteer's state, the project, the clock and the language.
// Components only arrange its result. Page thread.

import type {
  Contribution,
  Limits,
  ProjectView,
  StoppedByOperator,
  TrialView,
  VolunteerSnapshot,
  VolunteerState,
} from "@hyperflock/worker-runtime/page";
import {
  type Dictionary,
  type FailureCode,
  failureCodes,
  type ProjectProblem,
} from "../i18n/dictionary.ts";
import type { Formatter } from "../i18n/format.ts";
import type { Point } from "../ui/curve.ts";
import { shownName } from "../ui/shown_name.ts";
import { type DownloadSize, sizeText } from "./download/download.ts";
import type { InAppBrowser } from "./in_app.ts";
import { coolingNotice, pausedNotice, refusedText } from "./limits_view.ts";
import type { ProjectLoad } from "./project_api.ts";

/** Selects colour and icon. The text gives the same information in words. */
export type Tone = "ready" | "busy" | "active" | "paused" | "problem";

/** The action of a button. `finish` is a switch; `stay` continues inside an app's browser. */
export type Action =
  | "start"
  | "stop"
  | "pause"
  | "resume"
  | "finish"
  | "stay"
  | "forget"
  | "reload_project";

export interface ActionView {
  readonly kind: Action;
  readonly label: string;
  /** Whether a switch is on. Buttons that are not switches lack this field. */
  readonly pressed?: boolean;
}

export interface ProgressView {
  /** The completed part of a download, from 0 to 1, or null while its size is unknown. */
  readonly fraction: number | null;
  readonly text: string;
}

export interface ParamView {
  readonly name: string;
  readonly value: string;
}

export interface TrialCard {
  readonly study: string;
  readonly owner: string;
  readonly counter: string;
  readonly params: readonly ParamView[];
  readonly points: readonly Point[];
  /** The time since the trial began to compute; null before. */
  readonly elapsed: string | null;
}

export interface PanelView {
  readonly phase:
    | VolunteerState["phase"]
    | "project_loading"
    | "project_problem"
    | "offline"
    | "in_app";
  readonly tone: Tone;
  readonly title: string;
  readonly text: string | null;
  /** What the volunteer can do about the failure. */
  readonly advice: string | null;
  /** A failure's code in small print. */
  readonly note: string | null;
  /** The text that a screen reader speaks when it changes. It contains no number that changes every second. */
  readonly announcement: string;
  readonly progress: ProgressView | null;
  readonly trial: TrialCard | null;
  /** The one large button of the panel. */
  readonly action: ActionView | null;
  /** The smaller buttons next to the large one. */
  readonly more: readonly ActionView[];
  /** Instructions, in the order in which to follow them. */
  readonly steps: readonly string[];
  /** Whether to show the costs above the button, which happens only before the first tap. */
  readonly showFacts: boolean;
  /** Whether to offer the join link for another browser. */
  readonly offerLink: boolean;
  /** The app whose browser the volunteer should leave; null in other browsers. */
  readonly inApp: InAppBrowser | null;
}

export interface ContributionView {
  readonly trials: string;
  readonly time: string;
  readonly thanks: string;
}

export interface ViewInput {
  readonly project: ProjectLoad;
  /** What a start fetches; null while that is not known. */
  readonly download: DownloadSize | null;
  /** The volunteer's state; null while the page has no join code. */
  readonly snapshot: VolunteerSnapshot | null;
  readonly nowMs: number;
  /** Whether the browser reports a connection. */
  readonly online: boolean;
  /** The app in whose browser this page is. Null in an ordinary browser, and after the volunteer has chosen to stay. */
  readonly inApp: InAppBrowser | null;
  /** Whether this browser has already joined the chosen project. */
  readonly known: "joined" | "unknown";
  /** When this device may compute, as the volunteer chose. */
  readonly limits: Limits;
  readonly words: Dictionary;
  readonly format: Formatter;
}

type PanelParts = Pick<PanelView, "phase" | "tone" | "title"> & Partial<PanelView>;

function panel(parts: PanelParts): PanelView {
  const said = [parts.title, parts.text, parts.advice, ...(parts.steps ?? [])].filter(
    (part) => part != null,
  );
  return {
    text: null,
    advice: null,
    note: null,
    announcement: said.join(" "),
    progress: null,
    trial: null,
    action: null,
    more: [],
    steps: [],
    showFacts: false,
    offerLink: false,
    inApp: null,
    ...parts,
  };
}

/** Returns the project with its names as the page shows them. */
export function shownProject(project: ProjectView): ProjectView {
  return { ...project, name: shownName(project.name), owner: shownName(project.owner) };
}

function trialCard(
  trial: TrialView,
  { nowMs, words, format }: ViewInput,
  runs: boolean,
): TrialCard {
  return {
    study: shownName(trial.studyName),
    owner: words.trial.forOwner(shownName(trial.owner)),
    // Trials are numbered from 0; people count from 1.
    counter: words.trial.counter(
      format.integer(trial.number + 1),
      trial.total === null ? null : format.integer(trial.total),
    ),
    params: Object.entries(trial.params).map(([name, value]) => ({
      name,
      value: format.param(value),
    })),
    points: trial.points,
    elapsed: runs ? format.duration(nowMs - trial.startedAt) : null,
  };
}

function announcement(
  title: string,
  trial: TrialCard,
  finishing: boolean,
  { states }: Dictionary,
): string {
  const said = `${title}. ${trial.counter}, ${trial.study}`;
  return finishing ? `${said}. ${states.finishing}` : said;
}

function isFailureCode(code: string): code is FailureCode {
  return (failureCodes as readonly string[]).includes(code);
}

function connectingPanel(
  retryAt: number | null,
  attempt: number,
  { nowMs, online, words, format }: ViewInput,
): PanelView {
  const { states, actions } = words;
  const stop = { kind: "stop", label: actions.stop } as const;
  if (!online) {
    return panel({ phase: "offline", tone: "paused", ...states.offline, action: stop });
  }
  if (retryAt === null && attempt <= 1) {
    return panel({ phase: "connecting", tone: "busy", ...states.connecting, action: stop });
  }
  const waits = retryAt !== null && retryAt > nowMs;
  const notice = waits ? states.unreachable(format.countdown(retryAt - nowMs)) : states.retryingNow;
  return panel({
    phase: "connecting",
    tone: "paused",
    ...notice,
    announcement: states.retryingNow.title,
    action: stop,
  });
}

/**
 * Returns the panel that explains how to leave an app's browser. `reason` says why this browser cannot compute; null if
 * it may be able to.
 */
function inAppPanel(inApp: InAppBrowser, reason: string | null, words: Dictionary): PanelView {
  const { inApp: way, actions } = words;
  const browser = way.browser[inApp.system];
  return panel({
    phase: "in_app",
    tone: "problem",
    title: way.title,
    text: reason ?? (inApp.label === null ? way.textUnknown : way.text(inApp.label)),
    steps: [way.menu[inApp.app], way.choose(browser), way.byHand(browser)],
    offerLink: true,
    inApp,
    more: reason === null ? [{ kind: "stay", label: actions.stayHere }] : [],
  });
}

/** Returns a sentence about the volunteer's last visit if the browser ended it; otherwise null. */
function interruption({ snapshot, words: { states }, format }: ViewInput): string | null {
  const interrupted = snapshot?.interrupted ?? null;
  if (interrupted === null) {
    return null;
  }
  return interrupted.during === "hidden"
    ? states.interruptedHidden
    : states.interruptedTrial(
        format.integer(interrupted.number + 1),
        shownName(interrupted.studyName),
      );
}

/** Returns a sentence about a study that the operator has stopped while this device computed it; null if none. */
function stoppedStudy(state: StoppedByOperator, { states }: Dictionary): string | null {
  return state.stoppedStudy === undefined
    ? null
    : states.stoppedByOperator(shownName(state.stoppedStudy));
}

function comesBack(trial: TrialView, { snapshot, words }: ViewInput): string | null {
  const interrupted = snapshot?.interrupted ?? null;
  const isSame =
    interrupted?.during === "trial" &&
    interrupted.study === trial.study &&
    interrupted.number === trial.number;
  return isSame ? words.states.comesBack : null;
}

function statePanel(state: VolunteerState, input: ViewInput): PanelView {
  const { words, format } = input;
  const { states, actions, unsupported } = words;
  const { phase } = state;
  const screen = input.snapshot?.awake === true ? states.screenKeptOn : states.keepScreenOn;
  const stop = { kind: "stop", label: actions.stop } as const;
  const pause = { kind: "pause", label: actions.pause } as const;
  const finishing = input.snapshot?.finishing === true;
  const finish = { kind: "finish", label: actions.finish, pressed: finishing } as const;
  switch (phase) {
    case "idle":
      if (input.known === "joined") {
        const { heading, text, linkEnded, toFetch } = words.memory;
        const { project, download } = input;
        const size =
          download === null ? "" : ` ${toFetch(sizeText(download, words.facts.download, format))}`;
        const isEnded = project.kind === "problem" && project.problem === "bad_code";
        return panel({
          phase,
          tone: "ready",
          title: heading,
          text: isEnded ? linkEnded : text + size,
          announcement: "",
          advice: interruption(input),
          note: words.beforeTap,
          action: { kind: "start", label: actions.start },
        });
      }
      return panel({
        phase,
        tone: "ready",
        title: words.facts.heading,
        announcement: "",
        advice: interruption(input),
        note: words.beforeTap,
        action: { kind: "start", label: actions.start },
        showFacts: true,
      });
    case "unsupported":
      if (input.inApp !== null && state.reason !== "insecure_context") {
        return {
          ...inAppPanel(input.inApp, unsupported.reasons[state.reason], words),
          note: states.failureCode(state.reason),
        };
      }
      return panel({
        phase,
        tone: "problem",
        title: unsupported.title,
        text: unsupported.reasons[state.reason],
        advice: unsupported.remedies[state.reason],
        note: states.failureCode(state.reason),
        offerLink: state.reason !== "insecure_context",
      });
    case "joining":
      return panel({ phase, tone: "busy", ...states.joining, action: stop });
    case "connecting":
      return connectingPanel(state.retryAt, state.attempt, input);
    case "waiting":
      return panel({
        phase,
        tone: "paused",
        title: states.waiting.title,
        text:
          state.refused === undefined
            ? states.waiting[state.reason]
            : refusedText(state.refused, input.limits, words.limits, format),
        advice: stoppedStudy(state, words),
        note: screen,
        action: stop,
        more: [pause],
      });
    case "loading": {
      const known = state.totalBytes > 0;
      const trial = trialCard(state.trial, input, false);
      return panel({
        phase,
        tone: "busy",
        ...states.loading,
        advice: finishing ? states.finishing : stoppedStudy(state, words),
        progress: {
          fraction: known ? Math.min(1, state.loadedBytes / state.totalBytes) : null,
          text: known
            ? words.trial.bytes(format.bytes(state.loadedBytes), format.bytes(state.totalBytes))
            : format.bytes(state.loadedBytes),
        },
        trial,
        announcement: announcement(states.loading.title, trial, finishing, words),
        action: stop,
        more: [pause, finish],
      });
    }
    case "computing": {
      const trial = trialCard(state.trial, input, true);
      const cooling = input.snapshot?.cooling ?? null;
      const notice =
        cooling === null
          ? { title: states.computing, text: null }
          : coolingNotice(cooling, input.limits, words.limits, format);
      return panel({
        phase,
        tone: "active",
        ...notice,
        text: input.online ? notice.text : states.computingOffline,
        advice: finishing
          ? states.finishing
          : (stoppedStudy(state, words) ?? comesBack(state.trial, input)),
        note: screen,
        trial,
        announcement: announcement(notice.title, trial, finishing, words),
        action: stop,
        more: [pause, finish],
      });
    }
    case "delivering": {
      const trial = trialCard(state.trial, input, false);
      return panel({
        phase,
        tone: "paused",
        ...states.delivering,
        advice: finishing ? states.finishing : null,
        trial,
        announcement: announcement(states.delivering.title, trial, finishing, words),
        action: stop,
      });
    }
    case "paused": {
      const kept = state.kept === true ? states.trialKept : null;
      if (state.reason === "hidden") {
        return panel({ phase, tone: "paused", ...states.hidden, advice: kept, action: stop });
      }
      if (state.reason === "by_choice") {
        return panel({
          phase,
          tone: "paused",
          ...(state.kept === true ? states.pausedKept : states.pausedByChoice),
          action: { kind: "resume", label: actions.resume },
          more: [stop],
        });
      }
      return panel({
        phase,
        tone: "paused",
        ...pausedNotice(state.reason, input.limits, words.limits, format),
        advice: kept,
        action: stop,
      });
    }
    case "stopped":
    case "finished":
      return panel({
        phase,
        tone: "ready",
        ...states[phase],
        action: { kind: "start", label: actions.startAgain },
      });
    case "forgetting":
      return panel({ phase, tone: "busy", ...states.forgetting });
    case "forgotten":
      return panel({
        phase,
        tone: "ready",
        ...states.forgotten,
        action: { kind: "start", label: actions.startAgain },
      });
    case "not_forgotten":
      return panel({
        phase,
        tone: "problem",
        ...states.notForgotten,
        action: { kind: "forget", label: actions.tryAgain },
      });
    case "elsewhere":
    case "replaced":
      return panel({
        phase,
        tone: "paused",
        ...states[phase],
        action: { kind: "start", label: actions.useThisTab },
      });
    case "failed":
      return panel({
        phase,
        tone: "problem",
        title: states.failed,
        text: isFailureCode(state.code) ? states.failures[state.code] : state.message,
        note: states.failureCode(state.code),
        action: { kind: "start", label: actions.tryAgain },
      });
    default:
      return state satisfies never;
  }
}

/** Whether the problem is temporary, so that another request may succeed. */
export function mayPass(problem: ProjectProblem): boolean {
  return problem === "rate_limited" || problem === "unreachable" || problem === "server";
}

function projectPanel({ project, known, words }: ViewInput): PanelView | null {
  switch (project.kind) {
    case "loading":
      return panel({ phase: "project_loading", tone: "busy", ...words.projectLoading });
    case "ready":
      return null;
    case "problem": {
      const { problem } = project;
      if (problem === "unreachable" && known === "joined") {
        return panel({
          phase: "project_problem",
          tone: "paused",
          ...words.app.offline,
          action: { kind: "reload_project", label: words.actions.tryAgain },
        });
      }
      return panel({
        phase: "project_problem",
        tone: "problem",
        ...words.projectProblems[problem],
        action: mayPass(problem) ? { kind: "reload_project", label: words.actions.tryAgain } : null,
      });
    }
    default:
      return project satisfies never;
  }
}

/** Returns the panel with the button. If this browser cannot compute, the panel says so before the project is known. */
export function panelView(input: ViewInput): PanelView {
  const state = input.snapshot?.state ?? { phase: "idle" };
  if (state.phase === "idle") {
    const { project, inApp, words } = input;
    const hopeless = project.kind === "problem" && !mayPass(project.problem);
    if (inApp !== null && !hopeless) {
      return inAppPanel(inApp, null, words);
    }
    // A device that has joined needs its link no longer. Whether the server still takes it shows after the tap.
    const isEnded = project.kind === "problem" && project.problem === "bad_code";
    const goesOn = input.known === "joined" && isEnded;
    return (goesOn ? null : projectPanel(input)) ?? statePanel(state, input);
  }
  return statePanel(state, input);
}

/** Returns this device's contribution so far; null until there is one. */
export function contributionView(
  contribution: Contribution | undefined,
  words: Dictionary,
  format: Formatter,
): ContributionView | null {
  if (contribution === undefined || (contribution.trials === 0 && contribution.seconds < 1)) {
    return null;
  }
  return {
    trials: format.integer(contribution.trials),
    time: format.duration(contribution.seconds * 1000),
    thanks: words.contribution.thanks,
  };
}

/** Whether the view changes with time alone, so that a timer must run. */
export function needsClock(state: VolunteerState | undefined): boolean {
  return state?.phase === "computing" || (state?.phase === "connecting" && state.retryAt !== null);
}
